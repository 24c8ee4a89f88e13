package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/examples/hello/api"
)

// Step is a transition that a status reports.
type Step struct {
	// Seen is when the watch delivered the status.
	Seen      time.Time
	Lifecycle string
	lifecyclev1.Transition
}

// recording keeps what happens in the namespace of a scenario, from a watch of each kind. What changes and changes back
// while the API server is restarted is not seen.
type recording struct {
	stop    context.CancelFunc
	stopped sync.WaitGroup

	mu       sync.Mutex
	writes   []time.Time
	steps    []Step
	statuses map[types.UID]map[string]any
	known    map[string]bool // transitions
	pods     map[string]*podState
	starts   []podChange
	outages  []podChange
	returns  []podChange
	down     []downNodes
}

// podState is the last known state of the pod of a node.
type podState struct {
	uid      types.UID
	created  metav1.Time
	restarts int32
	// ready now, and served once.
	ready, served bool
	// gone is when the pod was deleted; zero while there is one.
	gone time.Time
}

// podChange is the start of a node's process, or the moment a ready node ceased to be so, or was ready again.
type podChange struct {
	at         time.Time
	pod, image string
}

// downNodes are the nodes that were ready once and are not.
type downNodes struct {
	at    time.Time
	nodes []string
}

// resourcesOfLifecycles are the kinds whose statuses are counted.
func resourcesOfLifecycles() []schema.GroupVersionKind {
	strimzi := kafkav1beta2.GroupVersion()
	return []schema.GroupVersionKind{
		strimzi.WithKind(kafkav1beta2.KindKafka), strimzi.WithKind(kafkav1beta2.KindKafkaMirrorMaker2), cephv1.GroupVersion().WithKind(cephv1.KindCluster),
		api.GroupVersion.WithKind("Greeting"),
	}
}

// watcher watches one kind in one namespace.
type watcher struct {
	client    client.WithWatch
	list      func() client.ObjectList
	namespace string
	take      func(watch.Event)
}

// WatchWithContext implements cache.WatcherWithContext.
func (w watcher) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return w.client.Watch(ctx, w.list(), &client.ListOptions{Namespace: w.namespace, Raw: &o})
}

// all takes every object as it is now, and returns the resource version to watch from.
func (w watcher) all(ctx context.Context) (string, error) {
	list := w.list()
	if err := w.client.List(ctx, list, client.InNamespace(w.namespace)); err != nil {
		return "", err
	}
	return list.GetResourceVersion(), meta.EachListItem(list, func(o k8sruntime.Object) error {
		w.take(watch.Event{Type: watch.Modified, Object: o})
		return nil
	})
}

// follow takes the changes since a resource version until the context is done. An API server that restarted may have forgotten the
// version, which ends the watch: all objects are read then.
func (w watcher) follow(ctx context.Context, from string) {
	for ctx.Err() == nil {
		if stream, err := watchtools.NewRetryWatcherWithContext(ctx, from, w); err == nil {
			for e := range stream.ResultChan() {
				w.take(e)
			}
		}
		_ = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) { // it ends with the context
			var err error
			from, err = w.all(ctx)
			return err == nil, nil
		})
	}
}

func (c *Cluster) record(ctx context.Context, namespace string) (*recording, error) {
	r := &recording{statuses: map[types.UID]map[string]any{}, known: map[string]bool{}, pods: map[string]*podState{}}
	// The watches outlive the step of the scenario that starts them.
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	follow := func(list func() client.ObjectList, take func(watch.Event)) error {
		w := watcher{client: c.Client, list: list, namespace: namespace, take: func(e watch.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			take(e)
		}}
		from, err := w.all(ctx)
		if err != nil {
			return fmt.Errorf("recording what happens in namespace %s: %w", namespace, err)
		}
		r.stopped.Go(func() { w.follow(ctx, from) })
		return nil
	}
	err := follow(func() client.ObjectList { return &corev1.PodList{} }, r.pod)
	for _, kind := range resourcesOfLifecycles() {
		if err == nil {
			err = follow(func() client.ObjectList {
				list := &unstructured.UnstructuredList{}
				list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
				return list
			}, r.status)
		}
	}
	if err != nil {
		r.end()
		return nil, err
	}
	return r, nil
}

// end the watches.
func (r *recording) end() {
	r.stop()
	r.stopped.Wait()
}

// status counts a change of a status, and keeps the transitions that appear in its histories.
func (r *recording) status(e watch.Event) {
	object, ok := e.Object.(*unstructured.Unstructured)
	if !ok {
		return
	}
	now := time.Now()
	status, _, err := unstructured.NestedMap(object.Object, "status")
	if err != nil || len(status) == 0 {
		delete(r.statuses, object.GetUID())
		return
	}
	if !equality.Semantic.DeepEqual(r.statuses[object.GetUID()], status) {
		r.writes = append(r.writes, now)
	}
	r.statuses[object.GetUID()] = status
	for _, step := range stepsOf(status) {
		key := fmt.Sprint(object.GetUID(), step.Lifecycle, step.At.Unix(), step.Event, step.From, step.To)
		if !r.known[key] {
			r.known[key] = true
			step.Seen = now
			r.steps = append(r.steps, step)
		}
	}
}

// stepsOf returns the histories of a status, oldest first.
func stepsOf(status map[string]any) []Step {
	var steps []Step
	lifecycles, _, _ := unstructured.NestedSlice(status, "lifecycles") // a status without them has none
	for _, l := range lifecycles {
		lifecycle, ok := l.(map[string]any)
		if !ok {
			continue
		}
		name, _, _ := unstructured.NestedString(lifecycle, "name")
		history, _, _ := unstructured.NestedSlice(lifecycle, "history") // nor has one without a history
		for _, h := range history {
			step := Step{Lifecycle: name}
			if text, err := json.Marshal(h); err == nil && json.Unmarshal(text, &step.Transition) == nil {
				steps = append(steps, step)
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return a.At.Compare(b.At.Time) })
	return steps
}

// nodeOf returns the name of what runs in a pod: the pod of a node of Kafka, or of a worker of MirrorMaker 2, has its name for ever, and a
// daemon of Ceph has one pod after another. It is empty for other pods.
func nodeOf(pod *corev1.Pod) string {
	if d, ok := render.DaemonOf(pod.Labels); ok {
		return d.String()
	}
	if pod.Labels["strimzi.io/broker-role"] != "" || pod.Labels["strimzi.io/kind"] == kafkav1beta2.KindKafkaMirrorMaker2 {
		return pod.Name
	}
	return ""
}

// pod keeps the starts of nodes, and which of them are down at once.
func (r *recording) pod(e watch.Event) {
	pod, ok := e.Object.(*corev1.Pod)
	if !ok || nodeOf(pod) == "" {
		return
	}
	now, name := time.Now(), nodeOf(pod)
	state := r.pods[name]
	if state == nil {
		state = &podState{}
		r.pods[name] = state
	}
	if pod.CreationTimestamp.Before(&state.created) {
		return // it ends after its successor was created
	}
	wasReady := state.ready
	state.ready = e.Type != watch.Deleted && pod.DeletionTimestamp.IsZero() && podReady(pod)
	state.gone = time.Time{}
	if e.Type == watch.Deleted {
		state.gone = now
	}
	var restarts int32
	for i := range pod.Status.ContainerStatuses {
		restarts += pod.Status.ContainerStatuses[i].RestartCount
	}
	if e.Type != watch.Deleted && (state.uid != pod.UID || restarts > state.restarts) {
		r.starts = append(r.starts, podChange{at: now, pod: name, image: pod.Spec.Containers[0].Image})
		state.uid, state.created, state.restarts = pod.UID, pod.CreationTimestamp, restarts
	}
	if wasReady && !state.ready {
		r.outages = append(r.outages, podChange{at: now, pod: name})
	}
	if state.served && !wasReady && state.ready {
		r.returns = append(r.returns, podChange{at: now, pod: name})
	}
	state.served = state.served || state.ready
	r.down = append(r.down, downNodes{at: now, nodes: r.downNow()})
}

// downNow returns the nodes that were ready once and are not.
func (r *recording) downNow() []string {
	var nodes []string
	for _, name := range slices.Sorted(maps.Keys(r.pods)) {
		if s := r.pods[name]; !s.ready && s.served {
			nodes = append(nodes, name)
		}
	}
	return nodes
}

func podReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// forget a node that was removed for good: since the end of its last pod it is not down. Whoever removed it may have taken the next
// node down before the scenario knew of the first one.
func (r *recording) forget(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	state := r.pods[node]
	delete(r.pods, node)
	if state == nil || state.gone.IsZero() {
		return
	}
	for i := range r.down {
		if d := &r.down[i]; !d.at.Before(state.gone) {
			d.nodes = slices.DeleteFunc(slices.Clone(d.nodes), func(other string) bool { return other == node })
		}
	}
}
