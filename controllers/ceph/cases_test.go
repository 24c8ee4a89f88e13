package ceph_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/test/cases"
)

// The suites of test/testdata/cases/ceph.yaml in this package run the kind on an API server in memory.

// release is a version with or without a commit.
type release struct{ versions.Version }

func (v *release) UnmarshalYAML(node *yaml.Node) error {
	fields := struct{ Version, Commit string }{Version: node.Value}
	if node.Kind == yaml.MappingNode {
		if err := node.Decode(&fields); err != nil {
			return err
		}
	}
	parsed, err := versions.ParseNumber(fields.Version)
	v.Version, v.Commit = parsed, fields.Commit
	return err
}

// TestKindExternalClusterCases launches a cluster of each version that another operator compares with that of its own command. Here the
// command is in an image of the cluster, so that there is nothing to compare.
func TestKindExternalClusterCases(t *testing.T) {
	type given struct{ Local, External release }
	rows := cases.Ceph[given](t, "external_cluster")
	better := map[string]cases.Better{}
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		out := cases.Outcome{"command": row.Given.External.String()}
		if p := table.Permit(row.Given.External.Version, true); p != nil {
			out = cases.Outcome{"command": "", "refused": string(p.Reason)}
		}
		better[row.Name] = cases.Better{Outcome: out, Page: "0608", Reason: "the command has the version of the cluster, which is one that may run"}
	}
	cases.Run(t, rows, better, func(t *testing.T, row *cases.Row[given]) cases.Outcome {
		small := cluster("ceph:external")
		small.Spec.CephVersion.AllowUnsupported = true
		small.Spec.Mon.Count, small.Spec.Mgr.Count, small.Spec.Filesystems, small.Spec.ObjectStores = 1, 1, nil, nil
		r := newRig(t, small)
		r.world.Images["ceph:external"] = row.Given.External.Version
		p := &tools{r: r}
		r.exec = p.exec
		r.restart()
		r.until("the launch", 5*time.Minute, func() bool { return r.condition("Ready") == "True" || r.entry().State == cephupgrade.Refusing })
		if r.entry().State == cephupgrade.Refusing {
			return cases.Outcome{"command": "", "refused": string(table.Permit(row.Given.External.Version, true).Reason)}
		}
		image, _, _ := strings.Cut(strings.Join(p.images, " "), "@")
		return cases.Outcome{"command": r.world.Images[image].String()}
	})
}

// waits says what becomes of the Deployments of three OSDs that are changed.
type waits struct {
	D1, D2, D3 string
	Waiting    []string
	List, Diff string
}

// starts reports whether the pod of an OSD starts.
func (w *waits) starts(d cephclient.Daemon) bool {
	state := map[string]string{"osd.0": w.D1, "osd.1": w.D2, "osd.2": w.D3}[d.String()]
	return state != "never" && state != "absent" && state != "deadline"
}

// TestKindDeploymentWaitCases changes the pods of the OSDs.
func TestKindDeploymentWaitCases(t *testing.T) {
	const reason = "no other daemon is touched until the one that was changed serves"
	one := cases.Outcome{"failures": []any{"d2"}, "untouched": []any{"d3"}}
	better := map[string]cases.Better{
		"two never ready":   {Outcome: one, Page: "0612", Reason: reason},
		"progress deadline": {Outcome: one, Page: "0612", Reason: reason},
		"list always fails": {Outcome: cases.Outcome{"failures": []any{}, "untouched": []any{"d1", "d2", "d3"}}, Page: "0612", Reason: "no daemon is touched while the Deployments cannot be read"},
	}
	cases.Run(t, cases.Ceph[waits](t, "deployment_wait"), better, func(t *testing.T, row *cases.Row[waits]) cases.Outcome {
		given := &row.Given
		r := launched(t, "16")
		r.world.Broken = func(d cephclient.Daemon, _ string) bool { return !given.starts(d) }
		before := r.deployments()
		if given.List != "" {
			r.lists(errors.New("the API server is overloaded"))
		}
		if given.Waiting == nil && given.Diff == "" {
			memory := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")}}
			r.edit(func(c *cephv1.Cluster) { c.Spec.Resources = map[string]corev1.ResourceRequirements{"osd": memory} })
		}
		quiet, last := 0, ""
		for range 150 { // until nothing has changed for half a minute
			r.tick()
			if quiet > 30 {
				break
			}
			if now := r.entry().State + r.entry().Data["daemon"]; now == last {
				quiet++
			} else {
				quiet, last = 0, now
			}
		}
		r.lists(nil)
		after := r.deployments()
		out, failures, untouched := cases.Outcome{"updated": false}, []any{}, []any{}
		for i, name := range []string{"osd.0", "osd.1", "osd.2"} {
			kind, id, _ := strings.Cut(name, ".")
			d := cephclient.Daemon{Type: cephclient.Type(kind), ID: id}
			switch changed := before[name] != after[name]; {
			case !changed:
				untouched = append(untouched, "d"+string(rune('1'+i)))
			case !given.starts(d):
				failures = append(failures, "d"+string(rune('1'+i)))
			default:
				out["updated"] = true
			}
		}
		out["failures"], out["untouched"] = failures, untouched
		return out
	})
}

// deployments are the templates of the daemons.
func (r *rig) deployments() map[string]string {
	r.t.Helper()
	var list appsv1.DeploymentList
	r.must(r.client.List(context.Background(), &list))
	out := map[string]string{}
	for i := range list.Items {
		d := &list.Items[i]
		out[d.Labels["ceph_daemon_type"]+"."+d.Labels["ceph_daemon_id"]] = d.Spec.Template.String()
	}
	return out
}

// lists makes the controller's lists of Deployments fail, or succeed again.
func (r *rig) lists(err error) {
	r.t.Helper()
	base := r.client
	r.client = interceptor.NewClient(base.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, is := list.(*appsv1.DeploymentList); is && err != nil {
				return err
			}
			return c.List(ctx, list, opts...)
		},
	})
	r.restart()
	r.client = base
}

// tick is one second in which a reconcile may fail.
func (r *rig) tick() {
	r.t.Helper()
	ctx := context.Background()
	r.clock.Step(time.Second)
	r.ceph.Do(func(c *simulated.Cluster) { c.Advance(r.clock.Now().Sub(noon).Milliseconds()) })
	r.must(r.world.Step(ctx, r.clock.Now()))
	for range 3 {
		_, _ = r.reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: r.key()})
	}
}

// interruption of an upgrade.
type interruption struct {
	Cancel   string `yaml:"cancel_after"`
	Down     string `yaml:"mon_a"`
	Position string
	Image    string
}

// TestKindCrashCases interrupts an upgrade.
func TestKindCrashCases(t *testing.T) {
	cases.Run(t, cases.Ceph[interruption](t, "crash_and_change"), nil, func(t *testing.T, row *cases.Row[interruption]) cases.Outcome {
		r := launched(t, "16")
		r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
		switch {
		case row.Given.Cancel != "":
			return r.cancelled()
		case row.Given.Down != "":
			return r.killed()
		default:
			return r.reverted(row.Given.Position)
		}
	})
}

// cancelled ends the operator in the middle of a reconcile while the OSDs are replaced.
func (r *rig) cancelled() cases.Outcome {
	r.until("the second OSD", 10*time.Minute, func() bool { return r.entry().Data["daemon"] == "osd.1" })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := r.reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: r.key()})
	r.restart()
	r.until("the upgrade", 15*time.Minute, r.settled("18"))
	started := r.started()
	twice := len(started) != len(slices.Compact(slices.Sorted(slices.Values(started))))
	return cases.Outcome{"error": err != nil, "next_run_continues": len(started) == 11, "nothing_done_twice": !twice}
}

// killed ends the operator while a monitor has ended and did not start again.
func (r *rig) killed() cases.Outcome {
	var ended []string
	r.world.Replacing = func(d cephclient.Daemon) { ended = append(ended, d.String()) }
	r.world.Broken = func(d cephclient.Daemon, image string) bool {
		return d.Type == cephclient.TypeMon && strings.HasPrefix(image, "ceph:18")
	}
	r.until("the first monitor", 10*time.Minute, func() bool { return len(ended) > 0 })
	r.restart()
	for range 120 {
		r.step()
	}
	out := cases.Outcome{"second_mon_untouched": len(ended) == 1}
	if e := r.entry(); e.State == cephupgrade.AwaitingDaemon && e.Data["daemon"] == ended[0] {
		out["resumes_at"] = "AwaitBack a"
	}
	r.world.Broken = nil
	r.until("the upgrade", 15*time.Minute, r.settled("18"))
	return out
}

// intended returns the daemon whose start on a newer version is recorded and was not written; empty without one.
func (r *rig) intended() string {
	for name, d := range r.record().Daemons {
		if !d.Intent.Version.IsZero() {
			return name
		}
	}
	return ""
}

// recordedStart asks for an image, and returns the first daemon whose start on it is recorded and not made.
func (r *rig) recordedStart(image string) (daemon string) {
	r.t.Helper()
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = image })
	r.until("the record", 5*time.Minute, func() bool {
		daemon = r.intended()
		return daemon != ""
	})
	return daemon
}

// marked reports whether the Deployment of a daemon names a change of it that is made no more.
func (r *rig) marked(daemon string) bool {
	d := &appsv1.Deployment{}
	r.must(r.client.Get(context.Background(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-" + strings.ReplaceAll(daemon, ".", "-")}, d))
	return d.Annotations[render.Withdrawn] != ""
}

// reverted withdraws the change before a daemon was touched.
func (r *rig) reverted(position string) cases.Outcome {
	r.until(position, time.Minute, func() bool {
		if strings.HasPrefix(position, "Recorded") {
			return r.intended() != ""
		}
		return r.entry().State != cephupgrade.Settled
	})
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:16" })
	r.step()
	r.until("the rest", 5*time.Minute, r.settled("16"))
	if started := r.started(); len(started) > 0 {
		return cases.Outcome{"started": started}
	}
	return cases.Outcome{"state": "Idle"}
}
