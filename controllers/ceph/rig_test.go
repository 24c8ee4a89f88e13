package ceph_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/clients/ceph/cli"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/controllers/ceph/children"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/keys"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/simulator/ceph/pods"
	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/test/lab"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// images that can be pulled. One is no image of Ceph.
func images() map[string]versions.Version {
	out := map[string]versions.Version{"busybox:1": {}}
	for release, v := range cephtest.Releases() {
		out["ceph:"+release] = v
	}
	return out
}

// rig is one Ceph cluster with its controller, on an API server in memory and on simulated daemons.
type rig struct {
	t          testing.TB
	client     client.Client
	clock      *clocktesting.FakeClock
	ceph       *simulated.Shared
	world      *pods.World
	reconciler *lifecycle.Reconciler[*cephv1.Cluster, *observation.Snapshot, effect]
	kind       ceph.Kind
	// exec runs a command in a pod, in place of a command without a pod; nil for none.
	exec func(ctx context.Context, command []string, in io.Reader, out, errs io.Writer) error
	// wrap changes the system that commands are sent to; nil for none.
	wrap func(connection.System) connection.System
	// keysFrom are the monitors that were asked about keys.
	keysFrom []cephclient.Daemon
	// again are the delays after which questions asked for another reconcile.
	again []time.Duration
	// renew is how soon the last questions may be asked again; zero for the default.
	renew time.Duration
	// errors of reconciles, and states in their order.
	states []string
}

// cluster is the complete spec of the tests: three monitors, two managers, three OSDs, a filesystem and an object store.
func cluster(image string) *cephv1.Cluster {
	return &cephv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "rook-ceph", Namespace: "rook-ceph", UID: "7c9f1f0e", Generation: 1},
		Spec: cephv1.ClusterSpec{
			CephVersion: &cephv1.CephVersion{Image: image}, DataDirHostPath: "/var/lib/rook", Mon: cephv1.MonSpec{Count: 3}, Mgr: cephv1.MgrSpec{Count: 2},
			Storage: cephv1.StorageSpec{
				VolumeClaims: []cephv1.VolumeClaims{{Name: "set", Count: 2, Size: "10Gi", VolumeMode: corev1.PersistentVolumeFilesystem}},
				Nodes:        []cephv1.NodeStorage{{Name: "node-1", Directories: []cephv1.Directory{{Path: "/var/lib/osd"}}}},
			},
			Filesystems:  []cephv1.FilesystemSpec{{Name: "myfs", ActiveCount: 1, StandbyCount: 1}},
			ObjectStores: []cephv1.ObjectStoreSpec{{Name: "store", Instances: 1, Port: 8080}},
		},
	}
}

func scheme(t testing.TB) *k8sruntime.Scheme {
	t.Helper()
	s := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, policyv1.AddToScheme, cephv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func newRig(t testing.TB, c *cephv1.Cluster) *rig {
	t.Helper()
	r := &rig{t: t, clock: clocktesting.NewFakeClock(noon), ceph: simulated.NewShared(simulated.NewEmpty(16))}
	server := store.New(scheme(t), noon)
	r.must(server.Put(c))
	for i := range 3 {
		r.must(server.Put(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i+1)},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}))
	}
	r.client = server.Client()
	r.world = &pods.World{Client: r.client, Namespace: c.Namespace, Name: c.Name, Ceph: r.ceph, Images: images()}
	r.restart()
	return r
}

// restart is a new process of the operator.
func (r *rig) restart() {
	r.t.Helper()
	table, err := versions.Embedded()
	r.must(err)
	var system connection.System = recorded{rig: r, System: &connection.Direct{Protocol: connection.NewProtocol(func(e connection.Endpoint) (cephclient.Runner, func(), error) {
		r.keysFrom = append(r.keysFrom, e.KeysFrom)
		if r.exec != nil {
			return &cli.Pod{Exec: r.exec, Conf: render.ToolsConf, Name: keys.Admin, Keyring: render.ToolsKeyring}, func() {}, nil
		}
		return r.ceph, func() {}, nil
	})}}
	if r.wrap != nil {
		system = r.wrap(system)
	}
	collector := &observation.Collector{Table: table, System: system, Live: r.client}
	r.kind, err = ceph.NewKind(collector, &children.Reconciler{
		Live: r.client, Sender: &connection.Sender{System: system}, Random: rand.Reader, Tools: r.exec != nil,
		Forget: func(c *cephv1.Cluster) { collector.Forget(c.UID) },
	})
	r.must(err)
	r.reconciler = lifecycle.New(r.kind, lifecycle.Options{Client: r.client, Live: r.client, Clock: r.clock})
}

// recorded records when the questions to a system ask for another reconcile.
type recorded struct {
	connection.System
	rig *rig
}

// Read implements connection.System.
func (s recorded) Read(ctx context.Context, e connection.Endpoint, queries []connection.Query, live bool, now time.Time) []connection.Reading {
	for _, q := range queries {
		if !live && q.Again == 0 {
			s.rig.renew = q.Renew
		}
		if q.Again > 0 {
			s.rig.again = append(s.rig.again, q.Again)
		}
	}
	return s.System.Read(ctx, e, queries, live, now)
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) key() client.ObjectKey {
	return client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph"}
}

func (r *rig) get() *cephv1.Cluster {
	r.t.Helper()
	c := &cephv1.Cluster{}
	r.must(r.client.Get(context.Background(), r.key(), c))
	return c
}

// edit changes the spec.
func (r *rig) edit(change func(*cephv1.Cluster)) {
	r.t.Helper()
	c := r.get()
	change(c)
	c.Generation++
	r.must(r.client.Update(context.Background(), c))
}

// wipe loses the status of the Cluster.
func (r *rig) wipe() {
	r.t.Helper()
	c := r.get()
	c.Status = cephv1.ClusterStatus{}
	r.must(r.client.Status().Update(context.Background(), c))
}

// step is one second.
func (r *rig) step() {
	r.t.Helper()
	ctx := context.Background()
	r.clock.Step(time.Second)
	r.ceph.Do(func(c *simulated.Cluster) { c.Advance(r.clock.Now().Sub(noon).Milliseconds()) })
	r.must(r.world.Step(ctx, r.clock.Now()))
	for range 3 { // a write of the status enqueues the object
		before := r.get().ResourceVersion
		_, err := r.reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: r.key()})
		r.must(err)
		r.must(lab.Defect(r.get()))
		if r.get().ResourceVersion == before {
			break
		}
	}
	if s := r.entry().State; s != "" && (len(r.states) == 0 || r.states[len(r.states)-1] != s) {
		r.states = append(r.states, s)
	}
}

func (r *rig) entry() lifecyclev1.Lifecycle {
	r.t.Helper()
	for _, e := range r.get().Status.Lifecycles {
		if e.Name == observation.LifecycleUpgrade {
			return e
		}
	}
	return lifecyclev1.Lifecycle{}
}

// until steps until the condition holds, at most the given simulated time.
func (r *rig) until(what string, limit time.Duration, holds func() bool) {
	r.t.Helper()
	for range int(limit / time.Second) {
		if holds() {
			return
		}
		r.step()
	}
	c := r.get()
	var conditions []string
	for _, one := range c.Status.Conditions {
		conditions = append(conditions, fmt.Sprintf("%s=%s %s %s", one.Type, one.Status, one.Reason, one.Message))
	}
	r.t.Fatalf("%s: not within %s; states %v; entry %+v; ceph %+v; conditions\n%s", what, limit, r.states, r.entry(), c.Status.Ceph, strings.Join(conditions, "\n"))
}

func (r *rig) condition(kind string) string {
	for _, c := range r.get().Status.Conditions {
		if c.Type == kind {
			return string(c.Status)
		}
	}
	return ""
}

// started returns the daemons that were started since the last call.
func (r *rig) started() (names []string) {
	for _, s := range r.world.Started {
		names = append(names, s.Daemon.String())
	}
	r.world.Started = nil
	return names
}

// current reports whether a ready pod of the Deployment has its present template.
func (r *rig) current(d *appsv1.Deployment) bool {
	r.t.Helper()
	var list corev1.PodList
	r.must(r.client.List(context.Background(), &list, client.MatchingLabels(d.Spec.Selector.MatchLabels)))
	return slices.ContainsFunc(list.Items, func(p corev1.Pod) bool {
		return observation.Ready(&p) && reflect.DeepEqual(p.Spec.Containers, d.Spec.Template.Spec.Containers)
	})
}

// rests reports whether the cluster is ready and rests on the version.
func (r *rig) rests(release string) func() bool {
	return func() bool { return r.restsOn(cephtest.Releases()[release]) }
}

func (r *rig) restsOn(version versions.Version) bool {
	v := r.get().Status.Version
	return r.entry().State == "Settled" && r.condition("Ready") == "True" && r.condition("VersionSettled") == "True" &&
		v != nil && v.Version == version.String()
}

// settled reports whether the cluster rests on the version and is healthy.
func (r *rig) settled(release string) func() bool {
	return func() bool { return r.settledOn(cephtest.Releases()[release]) }
}

func (r *rig) settledOn(version versions.Version) bool {
	return r.restsOn(version) && r.get().Status.Ceph.Health == cephclient.HealthOK
}

// versions returns what the daemons of each type run, without repetitions.
func (r *rig) versions() map[string]string {
	out := map[string]string{}
	r.ceph.Do(func(c *simulated.Cluster) {
		for _, d := range c.Daemons {
			v := fmt.Sprint(d.Version.Major)
			if all := strings.Split(out[string(d.Name.Type)], " "); out[string(d.Name.Type)] == "" {
				out[string(d.Name.Type)] = v
			} else if !slices.Contains(all, v) {
				out[string(d.Name.Type)] += " " + v
			}
		}
	})
	return out
}
