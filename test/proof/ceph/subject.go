package ceph

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/clients/ceph/versions"
	controller "github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/controllers/ceph/children"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/simulator/ceph/pods"
	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/test/lab"
)

const namespace, name = "rook-ceph", "c"

// Subject is the type of the explored subjects.
type Subject = explore.Subject[*cephv1.Cluster, *observation.Snapshot, cephupgrade.Effect]

// Scene is a cluster at rest whose spec has just changed.
type Scene struct {
	Name string
	// from is the release of its daemons, and mons the number of its monitors: the outage of a single one is accepted.
	from string
	mons int32
	// sample is the number of states that the ordinary tests search.
	sample int
	// prompt caches show every write at once. forgets is a process that remembers no commands.
	prompt, forgets bool
	// first is a change that was carried out before, up to state.
	first func(*cephv1.Cluster)
	state string
	// change is the change of the spec, and edits what users may change further.
	change func(*cephv1.Cluster)
	edits  []explore.Edit[*cephv1.Cluster]
}

// to asks for a release of all daemons, without a policy.
func to(release string) func(*cephv1.Cluster) {
	return func(c *cephv1.Cluster) {
		c.Spec.CephVersion, c.Spec.UpgradePolicy = &cephv1.CephVersion{Image: "ceph:" + release}, nil
	}
}

// policy asks for a release of some types.
func policy(release string, components ...cephv1.Component) func(*cephv1.Cluster) {
	return func(c *cephv1.Cluster) {
		c.Spec.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:" + release}, Components: components}
	}
}

// memory changes the pods of monitors and OSDs, and no version.
func memory(c *cephv1.Cluster) {
	more := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")}}
	c.Spec.Resources = map[string]corev1.ResourceRequirements{"mon": more, "osd": more}
}

func edit(name string, change func(*cephv1.Cluster)) explore.Edit[*cephv1.Cluster] {
	return explore.Edit[*cephv1.Cluster]{Name: name, Make: change}
}

// Scenes returns the scenes.
func Scenes() []Scene {
	mons, mgrs := policy("18", "mon"), policy("18", "osd", "mgr", "mon")
	none := func(c *cephv1.Cluster) { c.Spec.UpgradePolicy = nil }
	return []Scene{
		{Name: "all daemons", from: "14", mons: 3, sample: 40, change: to("16"), edits: []explore.Edit[*cephv1.Cluster]{edit("asks for 14", to("14")), edit("asks for 16", to("16"))}},
		{
			Name: "components", from: "16", mons: 3, sample: 50, prompt: true, change: mons,
			edits: []explore.Edit[*cephv1.Cluster]{edit("adds managers and OSDs", mgrs), edit("removes the policy", none), edit("asks for 18", to("18"))},
		},
		{
			Name: "removed policy", from: "16", mons: 1, sample: 60, prompt: true, first: mons, state: cephupgrade.AwaitingAdmin, change: none,
			edits: []explore.Edit[*cephv1.Cluster]{edit("sets the policy again", mons), edit("asks for 18", to("18"))},
		},
		{Name: "other pods", from: "16", mons: 3, sample: 40, prompt: true, change: memory},
		{Name: "one monitor", from: "14", mons: 1, sample: 150, prompt: true, forgets: true, change: to("16")},
	}
}

// images are those that can be pulled.
func images() map[string]versions.Version {
	out := map[string]versions.Version{}
	for release, v := range cephtest.Releases() {
		out["ceph:"+release] = v
	}
	return out
}

// AddToScheme registers the types of the objects.
func AddToScheme() []func(*k8sruntime.Scheme) error {
	return []func(*k8sruntime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, policyv1.AddToScheme, cephv1.AddToScheme}
}

// newKind returns the kind of controllers/ceph with its parts.
func newKind(system connection.System, api client.Client) (controller.Kind, *observation.Collector, *children.Reconciler, error) {
	table, err := versions.Embedded()
	if err != nil {
		return controller.Kind{}, nil, nil, err
	}
	collector := &observation.Collector{Table: table, System: system, Live: api}
	objects := &children.Reconciler{
		Live: api, Sender: &connection.Sender{System: system}, Random: rand.NewChaCha8([32]byte{}),
		Forget: func(c *cephv1.Cluster) { collector.Forget(c.UID) },
	}
	kind, err := controller.NewKind(collector, objects)
	return kind, collector, objects, err
}

// NewKind returns the kind of controllers/ceph on the states of a search. What its process remembers of commands is part of the state; all
// else that it remembers is lost before each reconcile.
func NewKind(at *explore.Scenario) (controller.Kind, error) {
	kind, collector, objects, err := newKind(system{at}, at.Client())
	observe := kind.Observe
	kind.Observe = func(ctx context.Context, c *cephv1.Cluster, request lifecycle.ObserveRequest) (*observation.Snapshot, error) {
		w := of(at)
		if w.forgets || at.Restarted() {
			w.sender.Drop(c.UID)
		}
		w.sender.System, objects.Sender = system{at}, w.sender
		collector.Cleanup(c.UID)
		return observe(ctx, c, request)
	}
	return kind, err
}

// Subject returns the subject of the scene.
func (s *Scene) Subject(ctx context.Context) (Subject, error) {
	l, err := s.launch(ctx)
	if err != nil {
		return Subject{}, fmt.Errorf("preparing the cluster of %q: %w", s.Name, err)
	}
	w := &World{ceph: l.ceph, begun: l.begun, sender: &connection.Sender{}, forgets: s.forgets}
	if s.mons == 1 {
		w.alone = []cephclient.Type{cephclient.TypeMon}
	}
	s.change(l.cluster)
	out := Subject{
		Name: s.Name, AddToScheme: AddToScheme(), Object: l.cluster, Children: l.objects, World: w, Edits: s.edits, Prompt: s.prompt,
		Kind: func(at *explore.Scenario) (controller.Kind, error) {
			kind, err := NewKind(at)
			return watched(at, kind), err
		},
		Invariant: wrong, Settled: settled,
		Keep:     []string{"Pod", "ConfigMap", "Secret", "Service", "PersistentVolumeClaim", "Job", "Node", "PodDisruptionBudget"},
		Restored: []string{"Deployment"},
		Part:     true,
		Faults:   []explore.Fault{PodLost, Unhealthy, Denied, Silence, ReplyGone, NotCarried},
		Ages:     []time.Duration{time.Second, 10 * time.Second, lasts},
		Leaps:    []time.Duration{31 * time.Second},
		Passes:   800, Within: 48 * time.Hour,
	}
	if len(s.edits) == 0 {
		out.Without = append(out.Without, explore.Edited)
	}
	return out, nil
}

// launched is a cluster at rest.
type launched struct {
	cluster *cephv1.Cluster
	objects []client.Object
	ceph    *simulated.Shared
	begun   time.Time
}

// launch runs the operator until the cluster rests.
func (s *Scene) launch(ctx context.Context) (*launched, error) {
	ctx = log.IntoContext(ctx, logr.Discard())
	const before = time.Hour
	out := &launched{begun: explore.Start.Add(-before), ceph: simulated.NewShared(simulated.NewEmpty(cephtest.Releases()[s.from].Major))}
	scheme := k8sruntime.NewScheme()
	for _, add := range AddToScheme() {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	server := store.New(scheme, out.begun)
	api, clock := server.Client(), clocktesting.NewFakeClock(out.begun)
	for _, o := range append(nodes(), s.cluster()) {
		if err := server.Put(o); err != nil {
			return nil, err
		}
	}
	kind, _, _, err := newKind((&World{ceph: out.ceph}).direct(), api)
	if err != nil {
		return nil, err
	}
	run := &pods.World{Client: api, Namespace: namespace, Name: name, Ceph: out.ceph, Images: images(), Alternate: true}
	reconciler := lifecycle.New(kind, lifecycle.Options{Client: api, Live: api, Clock: clock})
	wanted, first := cephupgrade.Settled, s.first
	key := client.ObjectKey{Namespace: namespace, Name: name}
	for clock.Since(out.begun) < before {
		clock.Step(time.Second)
		out.ceph.Do(func(c *simulated.Cluster) { c.Advance(clock.Since(out.begun).Milliseconds()) })
		if err := run.Step(ctx, clock.Now()); err != nil {
			return nil, err
		}
		if _, err := reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: key}); err != nil {
			return nil, err
		}
		c := &cephv1.Cluster{}
		if err := api.Get(ctx, key, c); err != nil {
			return nil, err
		}
		if err := lab.Defect(c); err != nil {
			return nil, err
		}
		if !rests(c, wanted) || wanted == cephupgrade.Settled && !out.healthy() {
			continue
		}
		if first != nil {
			first(c)
			c.Generation++
			if err := api.Update(ctx, c); err != nil {
				return nil, err
			}
			wanted, first = s.state, nil
			continue
		}
		c.Status.ObservedGeneration, c.ResourceVersion = 0, ""
		out.cluster = c
		out.objects, err = objectsOf(ctx, api)
		return out, err
	}
	return nil, fmt.Errorf("it does not reach the state %s", wanted)
}

// rests reports whether the upgrade is in a state. A new cluster is settled before it is ready.
func rests(c *cephv1.Cluster, state string) bool {
	for i := range c.Status.Lifecycles {
		if e := &c.Status.Lifecycles[i]; e.State == state {
			return state != cephupgrade.Settled || meta.IsStatusConditionTrue(c.Status.Conditions, lifecycle.Ready)
		}
	}
	return false
}

// healthy gives the cluster a pool once its OSDs are up, and reports whether it is healthy.
func (l *launched) healthy() (yes bool) {
	l.ceph.Do(func(c *simulated.Cluster) {
		if len(c.Pools) == 0 {
			c.Pools = []simulated.Pool{{Name: "data", PGs: 2, Size: 2, MinSize: 1}}
			return
		}
		yes = len(c.Checks()) == 0
	})
	return yes
}

// cluster is one with one manager and two OSDs.
func (s *Scene) cluster() *cephv1.Cluster {
	accepted := "mgr"
	if s.mons == 1 {
		accepted += ",mon"
	}
	return &cephv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: objectUID, Generation: 1, Annotations: map[string]string{facts.AcceptOutage: accepted}},
		Spec: cephv1.ClusterSpec{
			CephVersion: &cephv1.CephVersion{Image: "ceph:" + s.from}, DataDirHostPath: "/var/lib/rook", Mon: cephv1.MonSpec{Count: s.mons}, Mgr: cephv1.MgrSpec{Count: 1},
			Storage: cephv1.StorageSpec{Nodes: []cephv1.NodeStorage{{Name: "node-1", Directories: []cephv1.Directory{{Path: "/osd-a"}, {Path: "/osd-b"}}}}},
		},
	}
}

func nodes() (out []client.Object) {
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		out = append(out, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		})
	}
	return out
}

// objectsOf returns all objects but the Cluster, owners first.
func objectsOf(ctx context.Context, api client.Client) ([]client.Object, error) {
	var out []client.Object
	for _, list := range []client.ObjectList{
		&corev1.NodeList{}, &corev1.SecretList{}, &corev1.ConfigMapList{}, &corev1.ServiceList{}, &corev1.PersistentVolumeClaimList{}, &appsv1.DeploymentList{},
		&batchv1.JobList{}, &corev1.PodList{},
	} {
		if err := api.List(ctx, list); err != nil {
			return nil, err
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if o, ok := item.(client.Object); ok {
				out = append(out, o)
			}
		}
	}
	return out, nil
}
