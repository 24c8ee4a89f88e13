// Package podset is the controller of StrimziPodSets. It creates each missing pod from its entry and adopts pods of the set
// without an owner. It does not restart or change pods: the content of a pod is the content of its entry when the pod is created.
package podset

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/controllers/kafka/entryhash"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
)

// Reconciler reconciles the pods of StrimziPodSets. It is safe for concurrent use on different sets.
type Reconciler struct {
	// Client reads from the cache and writes. Required.
	Client client.Client
	// Live reads from the API server. Required.
	Live client.Reader
	// Children is shared by the controllers of the process. Required.
	Children *lifecycle.Children
	// Clock of the process. Required.
	Clock clock.PassiveClock
	// Disrupt calls take, which removes the pod, if it acquires the disruption lock of the pod's cluster. Otherwise it returns
	// ErrWait. Required.
	Disrupt func(ctx context.Context, pod *corev1.Pod, take func() error) error
	// Ours reports whether this manager reconciles the set. Optional; default: it reconciles all sets.
	Ours func(context.Context, *corev1beta2.StrimziPodSet) (bool, error)

	relapses relapses
	uids     uids
}

var _ reconcile.Reconciler = &Reconciler{}

// pause is the requeue delay while the cache is stale.
const pause = 200 * time.Millisecond

// Reconcile creates the missing pods of one set. It creates a pod only from the set as just read from the API server, never from a
// stale copy. It deletes pods that have terminated, and removes others only if their node was stopped on purpose.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set := &corev1beta2.StrimziPodSet{}
	err := r.Client.Get(ctx, request.NamespacedName, set)
	switch {
	case lifecycle.ObjectMissing(err):
		r.forget(r.uids.gone(request.NamespacedName))
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("reading StrimziPodSet %s: %w", request, err)
	}
	ours, err := r.ours(ctx, set)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("finding out whose StrimziPodSet %s is: %w", request, err)
	}
	if set.DeletionTimestamp != nil || !ours {
		r.uids.gone(request.NamespacedName)
		r.forget(set.UID)
		return reconcile.Result{}, nil
	}
	r.forget(r.uids.saw(request.NamespacedName, set.UID))
	again, err := r.tend(ctx, set)
	switch {
	case errors.Is(err, lifecycle.ErrStale), apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: pause}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("tending the pods of StrimziPodSet %s: %w", request, err)
	}
	return reconcile.Result{RequeueAfter: again}, nil
}

// forget drops the state of a deleted set. The empty UID is ignored.
func (r *Reconciler) forget(set types.UID) {
	if set == "" {
		return
	}
	r.Children.Forget(set)
	r.relapses.forget(set)
}

func (r *Reconciler) ours(ctx context.Context, set *corev1beta2.StrimziPodSet) (bool, error) {
	if r.Ours == nil {
		return true, nil
	}
	return r.Ours(ctx, set)
}

// tend reconciles one set. It returns the delay until the next reconcile; zero if only an event requires one.
func (r *Reconciler) tend(ctx context.Context, set *corev1beta2.StrimziPodSet) (time.Duration, error) {
	pods, err := r.pods(ctx, set)
	if err != nil {
		return 0, err
	}
	f := compare(set, pods)
	write := r.Children.Writer(set, nil)
	for _, pod := range f.orphans {
		if err := adopt(ctx, write, pod); err != nil {
			return 0, err
		}
	}
	var again time.Duration
	var stuck error
	if len(f.missing)+len(f.ended)+len(f.extra) > 0 {
		again, stuck, err = r.change(ctx, set, pods, write)
		if err != nil && (!errors.As(err, new(refusal)) || errors.Is(err, lifecycle.ErrStale) || apierrors.IsConflict(err)) {
			return 0, err
		}
	}
	shown, showing := r.show(ctx, set, &f, errors.Join(err, stuck))
	return max(again, shown), errors.Join(err, showing)
}

// pods returns the pods that match the set's selector and that no other controller owns, in the order of the cache.
func (r *Reconciler) pods(ctx context.Context, set *corev1beta2.StrimziPodSet) ([]*corev1.Pod, error) {
	var list corev1.PodList
	err := r.Children.Reader(set.UID, false).List(ctx, &list, client.InNamespace(set.Namespace),
		client.MatchingLabels(set.Spec.Selector.MatchLabels), client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, err
	}
	var out []*corev1.Pod
	for i := range list.Items {
		if pod := &list.Items[i]; !ownedByOther(pod, set) {
			out = append(out, pod)
		}
	}
	return out, nil
}

// change creates and deletes pods according to the set as read live, so that it respects an entry that was replaced or removed in
// the meantime, and the mark of a restart. It returns in stuck what is only awaited, and for longer than usual.
func (r *Reconciler) change(ctx context.Context, set *corev1beta2.StrimziPodSet, pods []*corev1.Pod, write lifecycle.Writer) (again time.Duration, stuck, err error) {
	live := &corev1beta2.StrimziPodSet{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(set), live); err != nil {
		return 0, nil, lifecycle.IgnoreMissing(err)
	}
	if live.UID != set.UID || live.DeletionTimestamp != nil {
		return 0, nil, nil
	}
	f := compare(live, pods)
	again, waits, failures := r.createAll(ctx, live, f.missing, write)
	for _, pod := range f.ended {
		if left := r.relapses.rest(set.UID, pod, r.Clock.Now()); left > 0 {
			again = sooner(again, left)
			continue
		}
		failures = append(failures, write.Delete(ctx, pod.DeepCopy()))
	}
	for _, pod := range f.extra {
		err := r.remove(ctx, pod, write)
		if errors.Is(err, lifecycle.ErrWait) {
			log.FromContext(ctx).V(1).Info("the pod of a node that was stopped stays for now", "pod", pod.Name, "reason", err.Error())
			again, err = sooner(again, states.DefaultPoll), nil
		}
		failures = append(failures, err)
	}
	return again, errors.Join(waits...), errors.Join(failures...)
}

// createAll creates the missing pods. It returns the delay until those that wait can be created, the waits that last for longer than usual,
// and the failures.
func (r *Reconciler) createAll(ctx context.Context, live *corev1beta2.StrimziPodSet, missing []entry, write lifecycle.Writer) (again time.Duration, stuck, failures []error) {
	for _, e := range missing {
		if left := held(live, e.name, r.Clock.Now()); left > 0 {
			again = sooner(again, left)
			continue
		}
		switch err := r.create(ctx, live, e, write); {
		case errors.Is(err, lifecycle.ErrWait):
			again = sooner(again, states.DefaultPoll)
			if errors.As(err, new(lingering)) {
				stuck = append(stuck, refusal{e.name, err})
			}
		case err != nil:
			failures = append(failures, refusal{e.name, err})
		}
	}
	return again, stuck, failures
}

// refusal wraps the error of a pod that could not be created.
type refusal struct {
	pod string
	error
}

// Unwrap returns the cause.
func (r refusal) Unwrap() error { return r.error }

// sooner returns the shorter of two delays, where zero means none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// create creates the pod of an entry. It returns ErrWait while a claim of the pod is being deleted, and for an entry that someone has edited:
// the Kafka controller restores it, or names it in a warning.
func (r *Reconciler) create(ctx context.Context, set *corev1beta2.StrimziPodSet, e entry, write lifecycle.Writer) error {
	pod, err := set.Spec.Pods[e.index].Pod()
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.index, err)
	}
	if entryhash.Edited(set, e.name, set.Spec.Pods[e.index]) {
		return fmt.Errorf("creating pod %s: %w: its entry was edited", e.name, lifecycle.ErrWait)
	}
	pod.Namespace = set.Namespace
	pod.OwnerReferences = nil
	if err := write.Own(pod); err != nil {
		return err
	}
	if err := r.claimsKept(ctx, pod); err != nil {
		return err
	}
	err = write.Create(ctx, pod)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	have := &corev1.Pod{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(pod), have); err != nil {
		return lifecycle.IgnoreMissing(err)
	}
	for name, value := range set.Spec.Selector.MatchLabels {
		if have.Labels[name] != value {
			return fmt.Errorf("%w, and lacks the label %s=%s: give it the label if it is of this set, else remove it", err, name, value)
		}
	}
	if ownedByOther(have, set) {
		return fmt.Errorf("%w, and belongs to somebody else", err)
	}
	return lifecycle.ErrStale
}

func adopt(ctx context.Context, write lifecycle.Writer, pod *corev1.Pod) error {
	pod = pod.DeepCopy()
	if err := write.Own(pod); err != nil {
		return err
	}
	return write.Update(ctx, pod)
}

// SetupWithManager registers the controller. A pod event enqueues the set that its labels name, whether or not the pod has an
// owner. If Ours is set, a new Kafka resource in the cache enqueues its sets too: another manager may have reconciled them before.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	b := ctrl.NewControllerManagedBy(mgr).For(&corev1beta2.StrimziPodSet{}).WithOptions(limited(options)).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
			set := o.GetLabels()[labels.ControllerName]
			if cluster, pool := o.GetLabels()[labels.Cluster], o.GetLabels()[labels.Pool]; cluster != "" && pool != "" {
				set = cluster + "-" + pool
			}
			if set == "" {
				return nil
			}
			return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: set}}}
		}))
	if r.Ours != nil {
		never := func(event.UpdateEvent) bool { return false }
		b = b.Watches(&kafkav1beta2.Kafka{}, handler.EnqueueRequestsFromMapFunc(r.setsOf), builder.WithPredicates(predicate.Funcs{UpdateFunc: never}))
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("registering the controller of StrimziPodSet: %w", err)
	}
	return nil
}

// setsOf returns requests for the sets of a Kafka resource.
func (r *Reconciler) setsOf(ctx context.Context, kafka client.Object) []reconcile.Request {
	var sets corev1beta2.StrimziPodSetList
	err := r.Client.List(ctx, &sets, client.InNamespace(kafka.GetNamespace()), client.MatchingLabels{labels.Cluster: kafka.GetName()})
	if err != nil {
		log.FromContext(ctx).Error(err, "the sets of a Kafka resource that came into sight cannot be listed; they wait for what happens to them", "kafka", kafka.GetName())
	}
	var out []reconcile.Request
	for i := range sets.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&sets.Items[i])})
	}
	return out
}
