package mirrormaker2

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/clients/kafka/versions"
	controller "github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/children"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	"github.com/detent-dev/detent/controllers/mirrormaker2/request"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/states"
)

const (
	namespace, name = "default", "my-mm2"
	source          = "east->west.MirrorSourceConnector"
	// listName is the ConfigMap of lists and alters.
	listName = "my-offsets"
	// committed is the offset at the start. wished and other are those that users request.
	committed, wished, other = 100, 50, 60
)

// begun is when every process was started: long before the exploration starts.
var begun = time.Date(2026, time.November, 20, 4, 0, 0, 0, time.UTC)

// Subject is the type of the explored subjects.
type Subject = explore.Subject[*kafkav1beta2.KafkaMirrorMaker2, *observation.Snapshot, controller.Effect]

type edit = explore.Edit[*kafkav1beta2.KafkaMirrorMaker2]

// Scene is a resource at rest that a user has just edited.
type Scene struct {
	Name string
	// operation is what the annotations request. stops means that the same edit stops the connector.
	operation string
	stops     bool
	// exactlyOnce means that the workers have exactly-once source support. slow means that tasks commit slowly.
	exactlyOnce, slow bool
	// frozen means that a worker is frozen, and lost that its node is lost.
	frozen, lost bool
	// laggard means that a cache may show old objects.
	laggard bool
}

// Scenes returns the scenes.
func Scenes() []Scene {
	return []Scene{
		{Name: "stop and alter in one edit", operation: "alter", stops: true},
		{Name: "stale caches", operation: "alter", stops: true, laggard: true},
		{Name: "slow commits", operation: "alter", stops: true, slow: true},
		{Name: "a worker is frozen", operation: "alter", stops: true, frozen: true},
		{Name: "a node is lost", operation: "alter", stops: true, lost: true},
		{Name: "exactly once", operation: "alter", stops: true, exactlyOnce: true},
		{Name: "reset", operation: "reset", stops: true},
		{Name: "list", operation: "list"},
	}
}

// AddToScheme registers the types of the objects.
func AddToScheme() []func(*k8sruntime.Scheme) error {
	return []func(*k8sruntime.Scheme) error{
		corev1.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme, kafkav1beta2.AddToScheme, corev1beta2.AddToScheme,
	}
}

// NewKind returns the kind of controllers/mirrormaker2 on the states of a search.
func NewKind(at *explore.Scenario) (controller.Kind, error) {
	table, err := versions.Embedded()
	if err != nil {
		return controller.Kind{}, err
	}
	api := at.Client()
	return controller.NewKind(&observation.Collector{Table: table, System: system{at}, Live: api, Hosts: api}, &children.Reconciler{Client: api, Live: api})
}

// annotations that request an operation.
func annotations(operation string) map[string]string {
	return map[string]string{request.OperationAnnotation: operation, request.ConnectorAnnotation: source}
}

// edits are the changes that a user may make: a tool sets the annotations again, another operation is requested, or nothing, and the
// connector is to run or to be stopped.
func (s *Scene) edits() []edit {
	another := map[string]string{"alter": "reset", "reset": "alter", "list": "alter"}[s.operation]
	sets := func(operation string) func(m *kafkav1beta2.KafkaMirrorMaker2) {
		return func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations = annotations(operation) }
	}
	state := func(state kafkav1beta2.ConnectorState) func(m *kafkav1beta2.KafkaMirrorMaker2) {
		return func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].SourceConnector.State = state }
	}
	return []edit{
		{Name: "sets the annotations again", Make: sets(s.operation)},
		{Name: "requests another operation", Make: sets(another)},
		{Name: "removes the annotations", Make: func(m *kafkav1beta2.KafkaMirrorMaker2) {
			delete(m.Annotations, request.OperationAnnotation)
			delete(m.Annotations, request.ConnectorAnnotation)
		}},
		{Name: "declares the connector as running", Make: state(kafkav1beta2.ConnectorRunning)},
		{Name: "declares the connector as stopped", Make: state(kafkav1beta2.ConnectorStopped)},
	}
}

// Subject returns the subject of the scene.
func (s *Scene) Subject(ctx context.Context) (Subject, error) {
	w := &World{connector: connector{exists: true, target: connect.Running, state: connect.Running, offset: committed}}
	m := s.resource()
	objects, err := rendered(ctx, m, w)
	if err != nil {
		return Subject{}, fmt.Errorf("preparing the resource of %q: %w", s.Name, err)
	}
	m.Annotations = annotations(s.operation)
	if s.stops {
		m.Spec.Mirrors[0].SourceConnector.State = kafkav1beta2.ConnectorStopped
	}
	for i, o := range objects { // pods are first, and the resource was created before
		if pod, is := o.(*corev1.Pod); is {
			pod.UID = explore.UID(uint64(2 + i)) //nolint:gosec // two
			w.run(i, pod, begun)
			w.processes[i].held, w.processes[i].slow = committed+progress, s.slow
		}
		if n, is := o.(*corev1.Node); is && s.lost && n.Name == nodeName(0) {
			objects[i], w.lost[0] = node(0, corev1.ConditionUnknown, explore.Start), explore.Start
		}
	}
	if s.frozen {
		w.processes[0].frozen = explore.Start
	}
	return Subject{
		Name: s.Name, AddToScheme: AddToScheme(), Object: m, World: w, Edits: s.edits(), Prompt: !s.laggard, Children: objects,
		Kind: func(at *explore.Scenario) (controller.Kind, error) {
			kind, err := NewKind(at)
			return watched(at, kind), err
		},
		Invariant: func(_ *kafkav1beta2.KafkaMirrorMaker2, w explore.World) error { return harmOf(w) },
		Settled:   settled,
		Keep:      []string{"Pod", "ConfigMap", "Node", "Service", "ServiceAccount", "PodDisruptionBudget", "NetworkPolicy"},
		Restored:  []string{corev1beta2.KindStrimziPodSet}, RestoredWithin: 16, // reconciles until a request waits: none of them applies children
		Part:    true,
		Without: []explore.Fault{explore.Flaps}, // the digest of a document is the target
		Faults: []explore.Fault{
			Frozen, Thawed, Slow, NodeLost, PodLost, Silence, Rebalance, DocumentReplaced, explore.AnswerLost, explore.CommandLate, explore.AnswerForgotten,
		},
		Ages:   ages(),
		Leaps:  []time.Duration{31 * time.Second},
		Passes: 400, Within: 48 * time.Hour, //nolint:mnd // a request waits for a lost node at five seconds for each pass
	}, nil
}

// ages are polls: a state that waits differs from one poll to the next, until no age matters any more.
func ages() (out []time.Duration) {
	for d := states.DefaultPoll; d <= patience; d += states.DefaultPoll {
		out = append(out, d)
	}
	return append(out, 5*time.Minute) // from when the same request is no repetition
}

// resource returns the KafkaMirrorMaker2 before the edit.
func (s *Scene) resource() *kafkav1beta2.KafkaMirrorMaker2 {
	m := &kafkav1beta2.KafkaMirrorMaker2{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(begun)}}
	m.Spec.Version, m.Spec.Replicas, m.Spec.ConnectCluster = "4.1.2", new(int32(workers)), "west"
	west := kafkav1beta2.MirrorMaker2Cluster{Alias: "west", BootstrapServers: "west:9092"}
	if s.exactlyOnce {
		west.Config = map[string]apiextensionsv1.JSON{"exactly.once.source.support": {Raw: []byte(`"enabled"`)}}
	}
	m.Spec.Clusters = []kafkav1beta2.MirrorMaker2Cluster{{Alias: "east", BootstrapServers: "east:9092"}, west}
	c := &kafkav1beta2.MirrorMaker2Connector{ListOffsets: &kafkav1beta2.ListOffsets{}, AlterOffsets: &kafkav1beta2.AlterOffsets{}}
	c.ListOffsets.ToConfigMap.Name, c.AlterOffsets.FromConfigMap.Name = listName, listName
	m.Spec.Mirrors = []kafkav1beta2.MirrorMaker2Mirror{{SourceCluster: "east", TargetCluster: "west", TopicsPattern: "orders", SourceConnector: c}}
	return m
}

// rendered returns the objects of a resource at rest, as the operator makes them, and the ConfigMap of a user.
func rendered(ctx context.Context, m *kafkav1beta2.KafkaMirrorMaker2, w *World) ([]client.Object, error) {
	scheme := k8sruntime.NewScheme()
	for _, add := range AddToScheme() {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	s := store.New(scheme, begun)
	main := m.DeepCopy()
	main.UID = explore.UID(1)
	users := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: listName}, Data: map[string]string{connect.EntryName(source): document(wished)}}
	all := []client.Object{main, users}
	for n := range workers + 1 {
		all = append(all, node(n, corev1.ConditionTrue, begun))
	}
	for _, o := range all {
		if err := s.Put(o); err != nil {
			return nil, err
		}
	}
	api := s.Client()
	table, err := versions.Embedded()
	if err != nil {
		return nil, err
	}
	collector := &observation.Collector{Table: table, System: resting{world: w}, Live: api, Hosts: api}
	effects := &children.Reconciler{Client: api, Live: api}
	const passes = 2 // the first creates the pod set
	for range passes {
		v, err := collector.Collect(ctx, main, lifecycle.ObserveRequest{Now: begun, Read: api})
		if err != nil {
			return nil, err
		}
		w.connector.config = v.Declared[source].Config
		if err := effects.Apply(ctx, main, v, lifecycle.NewChildren(api, api, clocktesting.NewFakePassiveClock(begun)).Writer(main, nil)); err != nil {
			return nil, err
		}
		if err := runPods(ctx, api); err != nil {
			return nil, err
		}
	}
	return childrenOf(ctx, api)
}

// runPods creates the pods of all entries.
func runPods(ctx context.Context, api client.Client) error {
	var sets corev1beta2.StrimziPodSetList
	if err := api.List(ctx, &sets); err != nil {
		return err
	}
	for i := range sets.Items {
		for n, e := range sets.Items[i].Spec.Pods {
			if err := client.IgnoreAlreadyExists(api.Create(ctx, started(born(entry(e), n), 0))); err != nil {
				return err
			}
		}
	}
	return nil
}

// childrenOf returns all objects but the resource, pods first. The record of processes is left out: it names the UIDs of other pods.
func childrenOf(ctx context.Context, api client.Client) ([]client.Object, error) {
	var out []client.Object
	for _, list := range []client.ObjectList{
		&corev1.PodList{}, &corev1.NodeList{}, &corev1beta2.StrimziPodSetList{}, &corev1.ConfigMapList{}, &corev1.ServiceList{}, &corev1.ServiceAccountList{},
		&policyv1.PodDisruptionBudgetList{}, &networkingv1.NetworkPolicyList{},
	} {
		if err := api.List(ctx, list); err != nil {
			return nil, err
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if o, ok := item.(client.Object); ok && o.GetName() != render.ProcessesName(name) {
				out = append(out, o)
			}
		}
	}
	return out, nil
}
