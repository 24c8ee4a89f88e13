package ceph_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// tools is the pod in which the commands of a rig are run.
type tools struct {
	r *rig
	// away means that no pod is ready.
	away bool
	// images that commands were run in, in their order without repetitions, and arguments of all commands.
	mu        sync.Mutex
	images    []string
	arguments []string
}

// exec runs a command in the pod, as the API server does.
func (p *tools) exec(ctx context.Context, command []string, in io.Reader, out, errs io.Writer) error {
	var pods corev1.PodList
	if err := p.r.client.List(ctx, &pods, client.MatchingLabels{render.LabelTools: "true"}); err != nil {
		return err
	}
	at := slices.IndexFunc(pods.Items, func(p corev1.Pod) bool { return observation.Ready(&p) })
	if at < 0 || p.away {
		return &cephclient.NotStarted{Err: errors.New("no pod of the Deployment is ready")}
	}
	p.ran(pods.Items[at].Spec.Containers[0].Image, command)
	c := cephclient.Command{Args: command[slices.Index(command, "json")+1:]}
	if in != nil {
		c.Input, _ = io.ReadAll(in)
	}
	result, err := p.r.ceph.Run(ctx, c)
	_, _ = out.Write(result.Stdout)
	_, _ = errs.Write(result.Stderr)
	if err == nil && result.Code != 0 {
		return exit(result.Code)
	}
	return err
}

// ran notes a command. Several are run at once.
func (p *tools) ran(image string, command []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.images) == 0 || p.images[len(p.images)-1] != image {
		p.images = append(p.images, image)
	}
	p.arguments = append(p.arguments, strings.Join(command, " "))
}

// exit is the end of a command with an exit code.
type exit int

func (exit) Error() string     { return "the command ended" }
func (e exit) ExitStatus() int { return int(e) }

// TestKindRunsCommandsInAPod launches and upgrades a cluster with commands that are run in a pod of it. Without the pod the upgrade waits,
// says why, and goes on by itself. No key is in an argument.
func TestKindRunsCommandsInAPod(t *testing.T) {
	r := newRig(t, cluster("ceph:14"))
	p := &tools{r: r}
	r.exec = p.exec
	r.restart()
	r.until("the launch", 5*time.Minute, r.settled("14"))
	r.started()
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:16" })
	r.step()
	r.until("the first OSD", 10*time.Minute, func() bool { return r.entry().Data["daemon"] == "osd.0" })
	p.away = true
	r.until("the reason", 5*time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), "no pod of the Deployment is ready") })
	before := len(r.world.Started)
	for range 60 {
		r.step()
	}
	if len(r.world.Started) > before {
		t.Errorf("started without a pod to ask in: %v", r.world.Started[before:])
	}
	p.away = false
	r.until("the upgrade", 10*time.Minute, r.settled("16"))
	r.clean()

	var images []string
	for _, image := range p.images {
		images = append(images, strings.Split(image, "@")[0])
	}
	if diff := cmp.Diff([]string{"ceph:14", "ceph:16"}, images); diff != "" {
		t.Errorf("commands were run in (-want +got):\n%s", diff)
	}
	s := &corev1.Secret{}
	r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-keys"}, s))
	for entry, keyring := range s.Data {
		key, _ := keys.KeyOf(string(keyring))
		if i := slices.IndexFunc(p.arguments, func(a string) bool { return strings.Contains(a, key) }); i >= 0 {
			t.Errorf("the key of %s is in %s", entry, p.arguments[i])
		}
	}
}

// TestKindKeepsTheToolsWhileAMonitorReturns changes the pod in which commands are run once the last monitor has reported its version, or serves with
// another build of it, and not while the upgrade awaits it.
func TestKindKeepsTheToolsWhileAMonitorReturns(t *testing.T) {
	for name, tc := range map[string]struct{ image, version string }{
		"another version": {"ceph:18", "18"},
		"another build":   {"rebuilt/ceph:16", "16"},
	} {
		t.Run(name, func(t *testing.T) {
			r := launchedWithTools(t)
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = tc.image })
			r.awaits("mon.a") // the leader, and the last one
			for range 5 {     // it joins the quorum after six seconds
				r.runsCommandsIn("ceph:16")
				r.step()
			}
			r.until("the tools", time.Minute, func() bool { return r.toolsImage() == tc.image })
			r.until("the upgrade", 10*time.Minute, r.settled(tc.version))
			r.clean()
		})
	}
}

// TestKindKeepsTheToolsWhileAMonitorIsAway runs commands in the image of before while the last monitor does not start with another build of it, also
// while Ceph cannot be read. A build whose command does not work either would leave Ceph unread, and the monitor as it is.
func TestKindKeepsTheToolsWhileAMonitorIsAway(t *testing.T) {
	r := launchedWithTools(t)
	r.world.Broken = func(d cephclient.Daemon, image string) bool {
		return d == mon("a") && strings.HasPrefix(image, "rebuilt/")
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "rebuilt/ceph:16" })
	r.awaits("mon.a")
	for i := range 90 {
		r.ceph.Do(func(c *simulated.Cluster) { c.Unreachable = i >= 30 && i < 60 })
		r.step()
		r.runsCommandsIn("ceph:16")
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:16" })
	r.until("the former build", 15*time.Minute, func() bool { return r.settled("16")() && r.toolsImage() == "ceph:16" })
}

// TestKindKeepsTheToolsWhileMonitorsRunTheirImage runs commands in the image of before while one monitor alone has another build, also if that
// monitor is the first one, and while Ceph cannot be read.
func TestKindKeepsTheToolsWhileMonitorsRunTheirImage(t *testing.T) {
	r := launchedWithTools(t)
	r.world.Images["hand/ceph:16"] = r.world.Images["ceph:16"]
	r.setByHand("rook-ceph-mon-a", "hand/ceph:16")
	r.resume()
	r.until("the record", 5*time.Minute, func() bool { return r.record().Daemons["mon.a"].Reference == "hand/ceph:16" })
	for i := range 60 {
		r.ceph.Do(func(c *simulated.Cluster) { c.Unreachable = i > 30 })
		r.step()
		r.runsCommandsIn("ceph:16")
	}
}

// launchedWithTools is a launched cluster of release 16 whose commands are run in a pod. There is another build of its image.
func launchedWithTools(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, cluster("ceph:16"))
	r.exec = (&tools{r: r}).exec
	r.world.Digests = map[string]string{"rebuilt/ceph:16": strings.Repeat("7", 64)}
	r.world.Images["rebuilt/ceph:16"] = r.world.Images["ceph:16"]
	r.restart()
	r.until("the launch", 5*time.Minute, r.settled("16"))
	return r
}

// awaits steps until the upgrade waits for the daemon.
func (r *rig) awaits(daemon string) {
	r.t.Helper()
	r.until(daemon, 10*time.Minute, func() bool {
		return r.entry().State == cephupgrade.AwaitingDaemon && r.entry().Data["daemon"] == daemon
	})
}

// runsCommandsIn fails if commands are to be run in another image.
func (r *rig) runsCommandsIn(want string) {
	r.t.Helper()
	if got := r.toolsImage(); got != want {
		r.t.Fatalf("commands are run in %s at %s, and the upgrade is in %s", got, r.clock.Now().Sub(noon), r.entry().State)
	}
}

// toolsImage is the name of the image in whose pod commands are to be run.
func (r *rig) toolsImage() string {
	r.t.Helper()
	d := &appsv1.Deployment{}
	r.must(r.client.Get(context.Background(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-tools"}, d))
	return strings.Split(d.Spec.Template.Spec.Containers[0].Image, "@")[0]
}

// TestKindPlacesTheToolsAsTheSpecSays changes the placement of the pod in which commands are run. What the spec had before is not kept.
func TestKindPlacesTheToolsAsTheSpecSays(t *testing.T) {
	r := launchedWithTools(t)
	toleration := corev1.Toleration{Key: "storage", Operator: corev1.TolerationOpExists}
	for _, want := range []cephv1.Placement{
		{NodeSelector: map[string]string{"role": "old"}, Tolerations: []corev1.Toleration{toleration}},
		{NodeSelector: map[string]string{"disk": "new"}},
		{},
	} {
		r.edit(func(c *cephv1.Cluster) { c.Spec.Placement = map[string]cephv1.Placement{"mon": want} })
		for range 5 {
			r.step()
		}
		d := &appsv1.Deployment{}
		r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-tools"}, d))
		got := cephv1.Placement{NodeSelector: d.Spec.Template.Spec.NodeSelector, Tolerations: d.Spec.Template.Spec.Tolerations}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("placement (-want +got):\n%s", diff)
		}
	}
}

// TestKindNamesTheTroubleOfTheTools says why Ceph cannot be asked if no node takes the pod in which commands are run.
func TestKindNamesTheTroubleOfTheTools(t *testing.T) {
	r := newRig(t, cluster("ceph:16"))
	p := &tools{r: r}
	r.exec = p.exec
	r.restart()
	r.until("the launch", 5*time.Minute, r.settled("16"))
	p.away = true
	r.world.Unscheduled = func(p *corev1.Pod) bool { return p.Labels[render.LabelTools] != "" }
	r.must(r.client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace("rook-ceph"), client.MatchingLabels{render.LabelTools: "true"}))
	r.until("the reason", 5*time.Minute, func() bool {
		return strings.Contains(r.message(lifecycle.Ready), "the pod of rook-ceph-tools, in which commands are run, does not start: Unschedulable")
	})
}
