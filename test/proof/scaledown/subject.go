package scaledown

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	controller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/children"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/transitions"
)

const (
	namespace, cluster, dual, workers = "default", "c", "dual", "workers"

	drain = observation.AnnotationDrain
	// version runs on every node. levels are those of its metadata, the newer one of which knows cordons.
	version                = "4.3.0"
	olderLevel, newerLevel = kafkaclient.MetadataCordons - 1, kafkaclient.MetadataCordons
)

// begun is when every process was started: long before the exploration starts.
var begun = time.Date(2026, time.November, 20, 4, 0, 0, 0, time.UTC)

// Subject is the type of the explored subjects.
type Subject = explore.Subject[*kafkav1beta2.Kafka, *observation.Snapshot, controller.Effect]

// Scene is a cluster at rest whose spec has just changed.
type Scene struct {
	Name string
	// Prompt caches show every write at once.
	prompt  bool
	prepare func(*kafkav1beta2.Kafka, *World)
	wanted  wanted
	edits   []explore.Edit[*kafkav1beta2.Kafka]
}

// Scenes returns the scenes.
func Scenes() []Scene {
	annotate := func(name, annotation, value string) explore.Edit[*kafkav1beta2.Kafka] {
		return explore.Edit[*kafkav1beta2.Kafka]{Name: name, Make: func(k *kafkav1beta2.Kafka) {
			k.Annotations = map[string]string{annotation: value}
		}}
	}
	drains, drainsNot := annotate("requests a drain", drain, "true"), annotate("requests no drain", drain, "false")
	return []Scene{
		{Name: "two brokers leave", wanted: wanted{workers: 1, dual: true}, edits: []explore.Edit[*kafkav1beta2.Kafka]{drains, drainsNot}},
		{Name: "a node becomes a controller", prompt: true, wanted: wanted{workers: nodes - 1}},
		{Name: "drain", prompt: true, wanted: wanted{workers: 1, dual: true}, edits: []explore.Edit[*kafkav1beta2.Kafka]{drains, drainsNot}, prepare: func(k *kafkav1beta2.Kafka, _ *World) {
			k.Annotations = map[string]string{drain: "true"}
		}},
		{Name: "two drains", prompt: true, wanted: wanted{workers: 1, dual: true}, edits: []explore.Edit[*kafkav1beta2.Kafka]{drains, drainsNot}, prepare: func(k *kafkav1beta2.Kafka, w *World) {
			k.Annotations = map[string]string{drain: "true"}
			w.frail, w.partitions[1] = true, partition{exists: true, replicas: [2]int32{1, nodes - 2}}
		}},
		{Name: "interrupted drain", prompt: true, wanted: wanted{workers: 1, dual: true}, edits: []explore.Edit[*kafkav1beta2.Kafka]{drains, drainsNot}, prepare: func(k *kafkav1beta2.Kafka, w *World) {
			k.Annotations = map[string]string{drain: "true"}
			w.refusing, w.nodes[nodes-1].cordoned = true, true
		}},
		{Name: "level", prompt: true, wanted: wanted{workers: 1, dual: true}, prepare: func(_ *kafkav1beta2.Kafka, w *World) {
			w.level, w.past.registered = olderLevel, true
		}},
		{Name: "deleted pool", prompt: true, wanted: wanted{dual: true, deleted: true}},
		{Name: "before 4.0", prompt: true, wanted: wanted{workers: 1, dual: true}, prepare: func(_ *kafkav1beta2.Kafka, w *World) { w.listsFenced = false }},
	}
}

// AddToScheme registers the types of the objects.
func AddToScheme() []func(*k8sruntime.Scheme) error {
	return []func(*k8sruntime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme, kafkav1beta2.AddToScheme, corev1beta2.AddToScheme}
}

// NewKind returns the kind of controllers/kafka on the states of a search.
func NewKind(at *explore.Scenario) (controller.Kind, error) {
	table, err := versions.Embedded()
	if err != nil {
		return controller.Kind{}, err
	}
	api := at.Client()
	return controller.NewKind(&observation.Collector{Table: table, System: system{at}, Hosts: api}, &children.Reconciler{Client: api, Live: api})
}

// Subject returns the subject of the scene.
func (s *Scene) Subject(ctx context.Context) (Subject, error) {
	all := wanted{workers: nodes - 1, dual: true}
	w := &World{listsFenced: true, level: newerLevel, wanted: all, entries: &entries{seen: map[string]*corev1.Pod{}}}
	w.partitions[0] = partition{exists: true, replicas: [2]int32{0, nodes - 1}}
	k := resource()
	if s.prepare != nil {
		s.prepare(k, w)
	}
	objects, err := rendered(ctx, k, all, w)
	if err != nil {
		return Subject{}, fmt.Errorf("preparing the cluster of %q: %w", s.Name, err)
	}
	w.wanted = s.wanted
	out := Subject{
		Name: s.Name, AddToScheme: AddToScheme(), Object: k, World: w, Edits: s.edits, Prompt: s.prompt,
		Kind: func(at *explore.Scenario) (controller.Kind, error) {
			kind, err := NewKind(at)
			return watched(at, kind), err
		},
		Invariant: func(_ *kafkav1beta2.Kafka, w explore.World) error { return harmOf(w) },
		Settled:   func(_ *kafkav1beta2.Kafka, w explore.World) error { return settled(w) },
		Keep:      []string{"Pod", "ConfigMap", "PersistentVolumeClaim", "KafkaNodePool", "Service", "ServiceAccount", "PodDisruptionBudget"},
		Part:      true,
		Faults:    []explore.Fault{PodLost, CutOff, Created, Silence, AnswerNo, AnswerOff, PoolEdited, PoolsWiped},
		Ages:      []time.Duration{session / 2, session, 30 * time.Second, settle}, // the first, so that two polls end a session
		Leaps:     []time.Duration{31 * time.Second},
		Passes:    250, Within: 48 * time.Hour,
		// A repair that the API has refused once is repeated after a second, in which a removal takes many reconciles. Nothing specifies
		// the pods of a deleted pool.
		Restored: []string{corev1beta2.KindStrimziPodSet}, RestoredWithin: 24, RestoredIf: poolsExist,
	}
	if len(s.edits) == 0 {
		out.Without = append(out.Without, explore.Edited)
	}
	out.Without = append(out.Without, explore.Flaps) // the target is what the pools request
	for _, o := range objects {
		if pool, ok := o.(*kafkav1beta2.KafkaNodePool); ok {
			at := slices.IndexFunc(s.wanted.pools(), func(p *kafkav1beta2.KafkaNodePool) bool { return p.Name == pool.Name })
			if at < 0 {
				continue
			}
			pool.Spec = s.wanted.pools()[at].Spec
		}
		out.Children = append(out.Children, o)
	}
	for i, o := range out.Children {
		for id := range int32(nodes) {
			if m, ok := o.(*corev1.ConfigMap); ok && o.GetName() == record.Name(podName(id)) {
				s.completeRecord(m, id, w)
			}
			if _, isPod := o.(*corev1.Pod); isPod && o.GetName() == podName(id) {
				w.nodes[id].process = explore.UID(uint64(2 + i)) //nolint:gosec // the object is the first
			}
		}
	}
	return out, nil
}

// completeRecord completes the record of a node in a scene that starts in the middle of a drain: that of a cordoned broker was begun.
func (s *Scene) completeRecord(m *corev1.ConfigMap, id int32, w *World) {
	if !slices.ContainsFunc(w.nodes[:], func(n node) bool { return n.cordoned }) || int(id) <= s.wanted.workers {
		return
	}
	m.Data[record.KeyLeaving] = "true"
	if w.nodes[id].cordoned {
		m.Data[record.KeyDraining] = strconv.Itoa(w.holds(id))
	}
}

// poolsExist reports whether a user has deleted no pool.
func poolsExist(w explore.World) bool {
	k, ok := w.(*World)
	return ok && !k.wanted.deleted
}

// resource returns the Kafka resource.
func resource() *kafkav1beta2.Kafka {
	k := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster, CreationTimestamp: metav1.NewTime(begun)}}
	k.Spec.Kafka.Version = version
	k.Spec.Kafka.Listeners = []kafkav1beta2.Listener{{Name: "plain", Port: 9092, Type: kafkav1beta2.ListenerInternal}} //nolint:mnd // Kafka's own
	k.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{}
	return k
}

// pools returns the pools. The ids of the nodes follow from their order.
func (n wanted) pools() []*kafkav1beta2.KafkaNodePool {
	pool := func(name string, replicas int, ids []int32, roles ...kafkav1beta2.NodeRole) *kafkav1beta2.KafkaNodePool {
		volume := kafkav1beta2.Volume{Type: kafkav1beta2.VolumePersistentClaim, Disk: kafkav1beta2.Disk{Size: "1Gi", DeleteClaim: new(true)}}
		return &kafkav1beta2.KafkaNodePool{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{labels.Cluster: cluster}},
			Spec: kafkav1beta2.KafkaNodePoolSpec{
				Replicas: int32(replicas), Roles: roles, //nolint:gosec // four
				Storage: kafkav1beta2.Storage{Type: kafkav1beta2.StorageJBOD, Volumes: []kafkav1beta2.Volume{volume}},
			},
			Status: kafkav1beta2.KafkaNodePoolStatus{NodeIDs: ids},
		}
	}
	roles := []kafkav1beta2.NodeRole{kafkav1beta2.RoleController}
	if n.dual {
		roles = append(roles, kafkav1beta2.RoleBroker)
	}
	out := []*kafkav1beta2.KafkaNodePool{pool(dual, 1, nil, roles...)}
	if !n.deleted {
		out = append(out, pool(workers, n.workers, nil, kafkav1beta2.RoleBroker))
	}
	return out
}

// rendered returns the objects of a cluster at rest, as the operator makes them.
func rendered(ctx context.Context, k *kafkav1beta2.Kafka, n wanted, w *World) ([]client.Object, error) {
	scheme := k8sruntime.NewScheme()
	for _, add := range AddToScheme() {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	s := store.New(scheme, begun)
	main := k.DeepCopy()
	main.UID = explore.UID(1)
	for _, o := range append([]client.Object{main}, asObjects(n.pools())...) {
		if err := s.Put(o); err != nil {
			return nil, err
		}
	}
	api := s.Client()
	table, err := versions.Embedded()
	if err != nil {
		return nil, err
	}
	collector := &observation.Collector{Table: table, System: resting{world: w}, Hosts: api}
	effects := &children.Reconciler{Client: api, Live: api}
	const passes = 10 // each creates what depends on what the previous one created
	for range passes {
		v, err := collector.Collect(ctx, main, lifecycle.ObserveRequest{Now: begun, Read: api, Needs: []transitions.Need{kafkaversion.NeedFeatures, roll.NeedBrokers, roll.NeedQuorum, roll.NeedPartitions}})
		if err != nil {
			return nil, err
		}
		write := lifecycle.NewChildren(api, api, clocktesting.NewFakePassiveClock(begun)).Writer(main, nil)
		if err := effects.Repair(ctx, main, &v, write); err != nil {
			return nil, err
		}
		if err := effects.Apply(ctx, main, &v, write, version); err != nil {
			return nil, err
		}
		if err := runPods(ctx, api, w); err != nil {
			return nil, err
		}
	}
	return childrenOf(ctx, api)
}

func asObjects(pools []*kafkav1beta2.KafkaNodePool) []client.Object {
	out := make([]client.Object, 0, len(pools))
	for _, p := range pools {
		out = append(out, p)
	}
	return out
}

// runPods creates the pods of all entries and registers their brokers.
func runPods(ctx context.Context, api client.Client, w *World) error {
	var sets corev1beta2.StrimziPodSetList
	if err := api.List(ctx, &sets); err != nil {
		return err
	}
	for i := range sets.Items {
		for _, e := range sets.Items[i].Spec.Pods {
			pod := started(born(w.entries.pod(e)))
			if err := client.IgnoreAlreadyExists(api.Create(ctx, pod)); err != nil {
				return err
			}
			for id := range int32(nodes) {
				if pod.Name == podName(id) {
					n := &w.nodes[id]
					n.registered, n.process, n.serves = true, "running", true
				}
			}
		}
	}
	return nil
}

// childrenOf returns all objects but the Kafka, pods first, without what the API server sets.
func childrenOf(ctx context.Context, api client.Client) ([]client.Object, error) {
	var out []client.Object
	for _, list := range []client.ObjectList{
		&corev1.PodList{}, &kafkav1beta2.KafkaNodePoolList{}, &corev1beta2.StrimziPodSetList{}, &corev1.ConfigMapList{}, &corev1.PersistentVolumeClaimList{},
		&corev1.ServiceList{}, &corev1.ServiceAccountList{}, &policyv1.PodDisruptionBudgetList{},
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
