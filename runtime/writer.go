package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Writer writes the children of one object. Every write carries a precondition, so that it neither overwrites a newer version
// nor deletes another object of the same name. Every write is recorded, so that a cache that does not show it yet is detected.
type Writer interface {
	// Own sets the writer's object as controlling owner of the child. The child is deleted with its owner, and changes of the
	// child enqueue the owner. It fails for a kind that is not in Kind.Owns, because nothing would enqueue the owner. Not for
	// children that hold data or identity.
	Own(child client.Object) error
	// Apply creates the child, or updates the stored one where it differs. The writer's object becomes its controlling owner. Apply
	// does not change child.
	//
	// It compares and writes the fields that child sets, as its JSON shows them: labels, annotations, and everything but the rest
	// of the metadata and the status. Fields that child leaves out, or that are null, keep their stored values, so that defaults of
	// the API server and fields of other writers cause no write. A field that is not set any more is therefore not
	// removed, with one exception: data of a ConfigMap or a Secret loses the keys that child does not contain. A list that differs
	// is replaced as a whole. Not for objects to whose lists others add elements, such as pods.
	//
	// It returns ErrStale if the cache is behind our last write, and a conflict if the child was changed since it was read; the
	// caller requeues on both. A child that is being deleted is ErrWait. Another owner's object is an error, and so is an object
	// without a controlling owner that lacks the labels of child, because it may be a user's. As Own, it refuses kinds that are
	// not in Kind.Owns.
	Apply(ctx context.Context, child client.Object) error
	// Create creates the object. It fails with AlreadyExists if the name is taken; the caller then requeues.
	Create(ctx context.Context, object client.Object) error
	// DryRun sends a dry run of the create. It returns the API server's error unwrapped.
	DryRun(ctx context.Context, object client.Object) error
	// Update replaces the object. It fails with a conflict unless its resourceVersion is the newest.
	Update(ctx context.Context, object client.Object) error
	// Delete deletes the object. It fails with a conflict unless its UID and resourceVersion match. A missing object is no
	// error.
	Delete(ctx context.Context, object client.Object) error
	// Evict requests the eviction of the pod with this UID. A refusal by a disruption budget is ErrWait. A missing pod is no
	// error. Without an answer for eight seconds it fails with context.DeadlineExceeded: the outcome is not known.
	Evict(ctx context.Context, pod *corev1.Pod) error
}

// Writer returns a writer of the owner's children. prove is called before each write and its error ends the write. A nil prove
// means that no proof is required. The caller watches the children; the writer owns children of any kind.
func (c *Children) Writer(owner client.Object, prove func(context.Context) error) Writer {
	return &childWriter{children: c, owner: owner, guard: proofOnly(prove)}
}

type childWriter struct {
	children *Children
	owner    client.Object
	guard    writeGuard
	// writes is the number of writes that succeeded.
	writes int
}

// writeGuard is asked before each write.
type writeGuard interface {
	// fresh returns an error if nothing may be written now.
	fresh(ctx context.Context) error
	// watched returns an error for a child that nothing watches, and that may therefore not be owned.
	watched(child client.Object) error
}

// proofOnly is a writeGuard that permits to own children of any kind. A nil proofOnly permits every write.
type proofOnly func(context.Context) error

func (p proofOnly) fresh(ctx context.Context) error {
	if p == nil {
		return nil
	}
	return p(ctx)
}

func (proofOnly) watched(client.Object) error { return nil }

func (w *childWriter) ensureFresh(ctx context.Context) error { return w.guard.fresh(ctx) }

func (w *childWriter) Own(child client.Object) error {
	err := w.guard.watched(child)
	if err == nil {
		err = controllerutil.SetControllerReference(w.owner, child, w.children.client.Scheme())
	}
	if err != nil {
		return fmt.Errorf("making %s the owner of %T %s: %w", client.ObjectKeyFromObject(w.owner), child, client.ObjectKeyFromObject(child), err)
	}
	return nil
}

func (w *childWriter) Create(ctx context.Context, object client.Object) error {
	if err := w.ensureFresh(ctx); err != nil {
		return err
	}
	if err := w.children.client.Create(ctx, object); err != nil {
		return fmt.Errorf("creating %T %s: %w", object, client.ObjectKeyFromObject(object), err)
	}
	return w.remember(object, false)
}

func (w *childWriter) DryRun(ctx context.Context, object client.Object) error {
	return w.children.client.Create(ctx, object, client.DryRunAll)
}

func (w *childWriter) Update(ctx context.Context, object client.Object) error {
	if object.GetResourceVersion() == "" {
		return fmt.Errorf("updating %T %s: it carries no resourceVersion, so that something newer could be overwritten", object, client.ObjectKeyFromObject(object))
	}
	if err := w.ensureFresh(ctx); err != nil {
		return err
	}
	if err := w.children.client.Update(ctx, object); err != nil {
		return fmt.Errorf("updating %T %s: %w", object, client.ObjectKeyFromObject(object), err)
	}
	return w.remember(object, false)
}

func (w *childWriter) Delete(ctx context.Context, object client.Object) error {
	if err := w.ensureFresh(ctx); err != nil {
		return err
	}
	uid, rv := object.GetUID(), object.GetResourceVersion()
	options := []client.DeleteOption{client.Preconditions{UID: &uid, ResourceVersion: &rv}, client.PropagationPolicy(metav1.DeletePropagationBackground)}
	if pod, is := object.(*corev1.Pod); is && graceOf(pod) != nil {
		options = append(options, client.GracePeriodSeconds(*graceOf(pod)))
	}
	err := w.children.client.Delete(ctx, object, options...)
	if err != nil && !ObjectMissing(err) {
		return fmt.Errorf("deleting %T %s: %w", object, client.ObjectKeyFromObject(object), err)
	}
	return w.remember(object, true)
}

// evictionTimeout is less than the ten seconds after which the client sends an eviction again, within one call and for up to 100 seconds, while
// the API server says that the disruption budget is still being processed. What was decided before the eviction may not hold for so long.
const evictionTimeout = 8 * time.Second

func (w *childWriter) Evict(ctx context.Context, pod *corev1.Pod) error {
	if err := w.ensureFresh(ctx); err != nil {
		return err
	}
	uid := pod.GetUID()
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, GracePeriodSeconds: graceOf(pod)},
	}
	limited, end := context.WithTimeout(ctx, evictionTimeout)
	defer end()
	err := w.children.client.SubResource("eviction").Create(limited, pod.DeepCopy(), eviction)
	switch {
	case apierrors.IsTooManyRequests(err):
		return fmt.Errorf("evicting pod %s/%s: %w: %w", pod.Namespace, pod.Name, ErrWait, err)
	case ObjectMissing(err):
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Errorf("evicting pod %s/%s: it may have been evicted: within %s there was no answer, or only that its disruption budget is still being processed; check that the kube-controller-manager runs: %w", pod.Namespace, pod.Name, evictionTimeout, err)
	case err != nil:
		return fmt.Errorf("evicting pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return w.remember(pod, true)
}

// graceOf returns the grace period with which a pod is removed; nil for its own. A pod whose own is 0 gets one second: it would vanish from
// the API while its process runs, and the process of the next pod would start beside it.
func graceOf(pod *corev1.Pod) *int64 {
	if own := pod.Spec.TerminationGracePeriodSeconds; own != nil && *own == 0 {
		return new(int64(1))
	}
	return nil
}

func (w *childWriter) remember(object client.Object, gone bool) error {
	w.writes++
	c := w.children
	gvk, err := apiutil.GVKForObject(object, c.client.Scheme())
	if err != nil {
		return err
	}
	n, err := revision(object)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	owner := w.owner.GetUID()
	if c.marks[owner] == nil {
		c.marks[owner] = map[childKey]mark{}
	}
	c.marks[owner][childKey{gvk, client.ObjectKeyFromObject(object)}] = mark{
		revision: n, uid: object.GetUID(), gone: gone, labels: object.GetLabels(), at: c.clock.Now(),
	}
	return nil
}
