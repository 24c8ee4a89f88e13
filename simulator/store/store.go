// Package store is the Kubernetes API as a plain value in memory: typed objects with UIDs, resourceVersions, generations,
// preconditions, the status and eviction subresources and owner references. The plan runs on a Store, and the exploration on its
// Objects, to which it adds a cache that may be behind and faults.
//
// Stored objects are never modified in place, so that Clone is cheap and a clone shares no mutable state. The store does not
// validate objects: the component that reads user input does.
package store

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Store is a small API server in memory, without a network.
type Store struct {
	scheme  *k8sruntime.Scheme
	objects Objects
	// revision is the number of the last write. created is the number of objects ever created; UIDs are made of it, so that runs
	// are reproducible.
	revision, created int64
	// now is the time for creation and deletion timestamps.
	now time.Time
	// Written is called after every write. Optional; default: none.
	Written func(Write)
}

// Write is one change of the store.
type Write struct {
	Verb        string
	Subresource string
	Object      client.Object
}

// New returns an empty store.
func New(scheme *k8sruntime.Scheme, now time.Time) *Store {
	return &Store{scheme: scheme, revision: 1, now: now}
}

// SetTime sets the time for creation and deletion timestamps.
func (s *Store) SetTime(now time.Time) { s.now = now }

// Clone returns a store that shares no mutable state with s. Its Written is nil.
func (s *Store) Clone() *Store {
	c := *s
	c.Written = nil
	return &c
}

// Objects calls yield with every object of the kind, by namespace and name. yield must not modify them.
func (s *Store) Objects(gvk schema.GroupVersionKind, yield func(client.Object)) {
	for _, r := range s.objects {
		if r.Kind == gvk {
			yield(r.Object)
		}
	}
}

// Put stores an object as if it had existed before: it keeps status, UID, generation and timestamps that are set. It is no
// request of a client, so Written is not called.
func (s *Store) Put(object client.Object) error {
	gvk, err := apiutil.GVKForObject(object, s.scheme)
	if err != nil {
		return err
	}
	stored, _ := object.DeepCopyObject().(client.Object)
	if stored.GetUID() == "" {
		s.created++
		stored.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.created)))
	}
	if stored.GetGeneration() == 0 {
		stored.SetGeneration(1)
	}
	if born := stored.GetCreationTimestamp(); born.IsZero() {
		stored.SetCreationTimestamp(metav1.NewTime(s.now.Truncate(time.Second)))
	}
	s.keep(gvk, stored)
	return nil
}

func (s *Store) keep(gvk schema.GroupVersionKind, object client.Object) {
	s.revision++
	object.SetResourceVersion(strconv.FormatInt(s.revision, 10))
	s.objects = s.objects.With(&Record{Kind: gvk, Key: client.ObjectKeyFromObject(object), Object: object})
}

func (s *Store) create(object client.Object) error {
	gvk, err := s.objects.Creatable(s.scheme, object)
	if err != nil {
		return err
	}
	object.SetUID("")
	object.SetGeneration(0)
	object.SetCreationTimestamp(metav1.Time{})
	if err := s.Put(object); err != nil {
		return err
	}
	s.answer(gvk, object)
	s.report("create", "", object)
	return nil
}

// answer copies the stored object into the caller's, as an API server does.
func (s *Store) answer(gvk schema.GroupVersionKind, object client.Object) {
	Set(object, s.objects.Find(gvk, client.ObjectKeyFromObject(object)).Object.DeepCopyObject())
}

func (s *Store) report(verb, subresource string, object client.Object) {
	if s.Written != nil {
		s.Written(Write{Verb: verb, Subresource: subresource, Object: object})
	}
}

// update replaces the object, or only its status. It returns a conflict if the resourceVersion or the UID is not current. An
// update without a change is not a write.
func (s *Store) update(object client.Object, status bool) error {
	r, err := s.objects.Match(s.scheme, object, object.GetUID(), object.GetResourceVersion())
	if err != nil {
		return err
	}
	gvk, old := r.Kind, r.Object
	next, err := merge(old, object, status)
	if err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(old, next) {
		s.answer(gvk, object)
		return nil
	}
	if next.GetDeletionTimestamp() != nil && len(next.GetFinalizers()) == 0 && !bound(next) {
		s.remove(gvk, next)
	} else {
		s.keep(gvk, next)
		s.answer(gvk, object)
	}
	subresource := ""
	if status {
		subresource = "status"
	}
	s.report("update", subresource, object)
	return nil
}

// patchFinalizers replaces only the finalizers of the object.
func (s *Store) patchFinalizers(object client.Object) error {
	r, err := s.objects.Match(s.scheme, object, object.GetUID(), object.GetResourceVersion())
	if err != nil {
		return err
	}
	next, _ := r.Object.DeepCopyObject().(client.Object)
	next.SetFinalizers(object.GetFinalizers())
	if err := s.update(next, false); err != nil {
		return err
	}
	Set(object, next)
	return nil
}

// merge returns the object to store: the sent object with the stored status, or the stored object with the sent status.
func merge(old, sent client.Object, status bool) (client.Object, error) {
	from, to := sent, old
	if !status {
		from, to = old, sent
	}
	next, _ := to.DeepCopyObject().(client.Object)
	a, b := reflect.ValueOf(from).Elem().FieldByName("Status"), reflect.ValueOf(next).Elem().FieldByName("Status")
	if a.IsValid() {
		copied, _ := from.DeepCopyObject().(client.Object)
		b.Set(reflect.ValueOf(copied).Elem().FieldByName("Status"))
	} else if status {
		return nil, fmt.Errorf("updating the status of %T: it has none", sent)
	}
	next.SetResourceVersion(old.GetResourceVersion())
	next.SetUID(old.GetUID())
	next.SetCreationTimestamp(old.GetCreationTimestamp())
	next.SetDeletionTimestamp(old.GetDeletionTimestamp())
	next.SetGeneration(old.GetGeneration())
	spec := reflect.ValueOf(next).Elem().FieldByName("Spec")
	if !status && spec.IsValid() && !equality.Semantic.DeepEqual(spec.Interface(), reflect.ValueOf(old).Elem().FieldByName("Spec").Interface()) {
		next.SetGeneration(old.GetGeneration() + 1)
	}
	return next, nil
}

// delete marks the object as deleted, or removes it if it has no finalizers. A bound pod is only marked, because its kubelet
// removes it, unless force is true.
func (s *Store) delete(object client.Object, uid types.UID, revision string, force bool) error {
	r, err := s.objects.Match(s.scheme, object, uid, revision)
	if err != nil {
		return err
	}
	gvk, old := r.Kind, r.Object
	if len(old.GetFinalizers()) == 0 && (force || !bound(old)) {
		s.remove(gvk, old)
		s.report("delete", "", old)
		return nil
	}
	if old.GetDeletionTimestamp() == nil {
		s.report("delete", "", s.mark(gvk, old))
	}
	return nil
}

// bound reports whether the object is a pod on a node.
func bound(object client.Object) bool {
	pod, isPod := object.(*corev1.Pod)
	return isPod && pod.Spec.NodeName != ""
}

// mark sets the deletion timestamp and returns the stored object.
func (s *Store) mark(gvk schema.GroupVersionKind, object client.Object) client.Object {
	next, _ := object.DeepCopyObject().(client.Object)
	stamp := metav1.NewTime(s.now.Truncate(time.Second))
	next.SetDeletionTimestamp(&stamp)
	s.keep(gvk, next)
	return next
}

// orphan removes the references of the objects to the object that controls them, so that they outlive it.
func (s *Store) orphan(object client.Object, uid types.UID, revision string) error {
	r, err := s.objects.Match(s.scheme, object, uid, revision)
	if err != nil {
		return err
	}
	for _, child := range s.objects.ControlledBy(r.Object) {
		next, _ := child.Object.DeepCopyObject().(client.Object)
		next.SetOwnerReferences(slices.DeleteFunc(next.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == r.Object.GetUID() }))
		s.keep(child.Kind, next)
	}
	return nil
}

// Remove removes the object at once, as a kubelet does when a pod has stopped.
func (s *Store) Remove(object client.Object) error {
	gvk, err := apiutil.GVKForObject(object, s.scheme)
	if err != nil {
		return err
	}
	s.remove(gvk, object)
	return nil
}

// remove removes the object and all objects of which it is the controller. Those with finalizers are only marked.
func (s *Store) remove(gvk schema.GroupVersionKind, object client.Object) {
	s.objects = s.objects.Without(gvk, client.ObjectKeyFromObject(object))
	s.revision++
	for _, child := range s.objects.ControlledBy(object) {
		switch {
		case len(child.Object.GetFinalizers()) == 0:
			s.remove(child.Kind, child.Object)
		case child.Object.GetDeletionTimestamp() == nil:
			s.mark(child.Kind, child.Object)
		}
	}
}

// evict deletes the pod, or fails with TooManyRequests if a disruption budget forbids it.
func (s *Store) evict(pod *corev1.Pod, eviction *policyv1.Eviction) error {
	r, err := s.objects.Match(s.scheme, pod, "", "")
	if err != nil {
		return err
	}
	if current, ok := r.Object.(*corev1.Pod); ok {
		if budget := s.forbids(current); budget != "" {
			return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget "+budget, 0)
		}
	}
	var uid types.UID
	if o := eviction.DeleteOptions; o != nil {
		uid, _ = Preconditions(o.Preconditions)
	}
	return s.delete(r.Object, uid, "", false)
}

// forbids returns the name of the disruption budget that the pod's eviction would violate, "" if none. Unready pods do not count
// for a budget, so their eviction is always permitted.
func (s *Store) forbids(pod *corev1.Pod) string {
	if !ready(pod) {
		return ""
	}
	for _, r := range s.objects {
		budget, ok := r.Object.(*policyv1.PodDisruptionBudget)
		if !ok || budget.Namespace != pod.Namespace || budget.Spec.MinAvailable == nil {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		healthy := 0
		for _, p := range s.objects {
			if other, ok := p.Object.(*corev1.Pod); ok && other.Namespace == pod.Namespace && selector.Matches(labels.Set(other.Labels)) && ready(other) {
				healthy++
			}
		}
		if healthy-1 < budget.Spec.MinAvailable.IntValue() {
			return budget.Name
		}
	}
	return ""
}

func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}
	return false
}
