package explore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// fakeClient is the API client of the operator in one reconcile. It reads the cache's or the server's version of a state, writes to
// the server's, and injects the planned fault.
type fakeClient struct {
	client.Client // nil: a method that is not implemented below panics, with the kind's code on the stack
	scenario      *Scenario
	live          bool
	calls         *calls
	// statusStored is called with every status that the operator stored.
	statusStored func(before, after client.Object)
}

func (f *fakeClient) Scheme() *k8sruntime.Scheme { return f.scenario.scheme }

func (f *fakeClient) GroupVersionKindFor(object k8sruntime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(object, f.scenario.scheme)
}

func (f *fakeClient) store() objectStore {
	if f.live {
		return f.scenario.state.live
	}
	return f.scenario.state.seen
}

func (f *fakeClient) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if err := f.calls.read(f.live); err != nil {
		return err
	}
	kind, err := apiutil.GVKForObject(into, f.scenario.scheme)
	if err != nil {
		return err
	}
	r := f.store().find(kind, key)
	if r == nil {
		return notFound(kind, key.Name)
	}
	set(into, r.object.DeepCopyObject())
	return nil
}

// set copies from into into, which has the same type.
func set(into client.Object, from k8sruntime.Object) {
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(from).Elem())
}

func (f *fakeClient) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := f.calls.read(f.live); err != nil {
		return err
	}
	kind, err := apiutil.GVKForObject(list, f.scenario.scheme)
	if err != nil {
		return err
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	if o.FieldSelector != nil {
		return fmt.Errorf("listing %s: field selectors are not supported here", kind.Kind)
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	var items []k8sruntime.Object
	for _, r := range f.store() {
		if r.kind == kind && (o.Namespace == "" || o.Namespace == r.key.Namespace) && (o.LabelSelector == nil || o.LabelSelector.Matches(labelSet(r.object.GetLabels()))) {
			items = append(items, r.object.DeepCopyObject())
		}
	}
	return meta.SetList(list, items)
}

type labelSet map[string]string

func (l labelSet) Has(k string) bool              { _, ok := l[k]; return ok }
func (l labelSet) Get(k string) string            { return l[k] }
func (l labelSet) Lookup(k string) (string, bool) { v, ok := l[k]; return v, ok }

func (f *fakeClient) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	return f.calls.write(func() error {
		kind, err := apiutil.GVKForObject(object, f.scenario.scheme)
		if err != nil {
			return err
		}
		s := f.scenario.state
		if s.live.find(kind, client.ObjectKeyFromObject(object)) != nil {
			return apierrors.NewAlreadyExists(resourceOf(kind), object.GetName())
		}
		stored, _ := object.DeepCopyObject().(client.Object)
		s.create(kind, stored)
		set(object, stored.DeepCopyObject())
		return nil
	})
}

func (f *fakeClient) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	return f.calls.write(func() error {
		old, err := f.match(object, object.GetUID(), object.GetResourceVersion())
		if err != nil {
			return err
		}
		next, _ := object.DeepCopyObject().(client.Object)
		next.SetUID(old.object.GetUID())
		next.SetCreationTimestamp(old.object.GetCreationTimestamp())
		next.SetGeneration(old.object.GetGeneration() + 1)
		f.scenario.state.put(old, next)
		set(object, next.DeepCopyObject())
		return nil
	})
}

// Patch supports patches of finalizers with an optimistic lock.
func (f *fakeClient) Patch(_ context.Context, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
	return f.calls.write(func() error {
		old, err := f.match(object, object.GetUID(), object.GetResourceVersion())
		if err != nil {
			return err
		}
		next, _ := old.object.DeepCopyObject().(client.Object)
		next.SetFinalizers(object.GetFinalizers())
		f.scenario.state.putFinalizers(old, next)
		set(object, next.DeepCopyObject())
		return nil
	})
}

func (f *fakeClient) Delete(_ context.Context, object client.Object, opts ...client.DeleteOption) error {
	var o client.DeleteOptions
	o.ApplyOptions(opts)
	var uid types.UID
	var revision string
	if p := o.Preconditions; p != nil && p.UID != nil {
		uid = *p.UID
	}
	if p := o.Preconditions; p != nil && p.ResourceVersion != nil {
		revision = *p.ResourceVersion
	}
	return f.calls.write(func() error { return f.remove(object, uid, revision) })
}

func (f *fakeClient) remove(object client.Object, uid types.UID, revision string) error {
	old, err := f.match(object, uid, revision)
	if err != nil {
		return err
	}
	f.scenario.state.remove(old)
	return nil
}

// match returns the stored object that a write refers to, or a conflict if its UID or resourceVersion differ.
func (f *fakeClient) match(object client.Object, uid types.UID, revision string) (*record, error) {
	kind, err := apiutil.GVKForObject(object, f.scenario.scheme)
	if err != nil {
		return nil, err
	}
	old := f.scenario.state.live.find(kind, client.ObjectKeyFromObject(object))
	switch {
	case old == nil:
		return nil, notFound(kind, object.GetName())
	case uid != "" && uid != old.object.GetUID(), revision != "" && revision != old.object.GetResourceVersion():
		return nil, apierrors.NewConflict(resourceOf(kind), object.GetName(), errors.New("the object has been modified"))
	}
	return old, nil
}

func resourceOf(kind schema.GroupVersionKind) schema.GroupResource {
	return schema.GroupResource{Group: kind.Group, Resource: kind.Kind}
}

func (f *fakeClient) Status() client.SubResourceWriter { return &fakeStatusClient{client: f} }

// SubResource supports evictions. A pod is removed at once, because no disruption budget exists here.
func (f *fakeClient) SubResource(string) client.SubResourceClient {
	return &fakeEvictionClient{client: f}
}

type fakeStatusClient struct {
	client.SubResourceWriter
	client *fakeClient
}

func (f *fakeStatusClient) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	return f.client.calls.status(func() error {
		old, err := f.client.match(object, object.GetUID(), object.GetResourceVersion())
		if err != nil {
			return err
		}
		next, _ := object.DeepCopyObject().(client.Object)
		s := f.client.scenario.state
		s.put(old, next)
		s.own, s.ownTerm = s.revision, f.client.scenario.term
		set(object, next.DeepCopyObject())
		f.client.statusStored(old.object, next)
		return nil
	})
}

type fakeEvictionClient struct {
	client.SubResourceClient
	client *fakeClient
}

func (f *fakeEvictionClient) Create(_ context.Context, object, _ client.Object, _ ...client.SubResourceCreateOption) error {
	return f.client.calls.evict(func() error { return f.client.remove(object, object.GetUID(), "") })
}

var _ client.Client = &fakeClient{}

// changeMain stores a user's change of an object, and reports whether it changed anything.
func (s *state) changeMain(r *record, change func(client.Object)) bool {
	next, _ := r.object.DeepCopyObject().(client.Object)
	change(next)
	if string(textOf(next)) == string(textOf(r.object)) {
		return false
	}
	if specChanged(r.object, next) {
		next.SetGeneration(next.GetGeneration() + 1)
	}
	s.put(r, next)
	return true
}

func specChanged(old, next client.Object) bool {
	plain := func(o client.Object) string {
		copied, _ := o.DeepCopyObject().(client.Object)
		copied.SetAnnotations(nil)
		copied.SetLabels(nil)
		copied.SetOwnerReferences([]metav1.OwnerReference{})
		return string(textOf(copied))
	}
	return plain(old) != plain(next)
}
