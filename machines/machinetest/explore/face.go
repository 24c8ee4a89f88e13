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

// face is the API client of the operator in one reconcile. It reads the cache's or the server's version of a state, writes to
// the server's, and injects the planned fault.
type face struct {
	client.Client // nil: a method that is not implemented below panics, with the kind's code on the stack
	site          *Site
	live          bool
	calls         *calls
	// told is called with every status that the operator stored.
	told func(before, after client.Object)
}

func (f *face) Scheme() *k8sruntime.Scheme { return f.site.scheme }

func (f *face) GroupVersionKindFor(object k8sruntime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(object, f.site.scheme)
}

func (f *face) shelf() shelf {
	if f.live {
		return f.site.state.live
	}
	return f.site.state.seen
}

func (f *face) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if err := f.calls.read(f.live); err != nil {
		return err
	}
	kind, err := apiutil.GVKForObject(into, f.site.scheme)
	if err != nil {
		return err
	}
	r := f.shelf().find(kind, key)
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

func (f *face) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := f.calls.read(f.live); err != nil {
		return err
	}
	kind, err := apiutil.GVKForObject(list, f.site.scheme)
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
	for _, r := range f.shelf() {
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

func (f *face) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	return f.calls.write(func() error {
		kind, err := apiutil.GVKForObject(object, f.site.scheme)
		if err != nil {
			return err
		}
		s := f.site.state
		if s.live.find(kind, client.ObjectKeyFromObject(object)) != nil {
			return apierrors.NewAlreadyExists(resourceOf(kind), object.GetName())
		}
		stored, _ := object.DeepCopyObject().(client.Object)
		s.create(kind, stored)
		set(object, stored.DeepCopyObject())
		return nil
	})
}

func (f *face) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	return f.calls.write(func() error {
		old, err := f.match(object, object.GetUID(), object.GetResourceVersion())
		if err != nil {
			return err
		}
		next, _ := object.DeepCopyObject().(client.Object)
		next.SetUID(old.object.GetUID())
		next.SetCreationTimestamp(old.object.GetCreationTimestamp())
		next.SetGeneration(old.object.GetGeneration() + 1)
		f.site.state.put(old, next)
		set(object, next.DeepCopyObject())
		return nil
	})
}

func (f *face) Delete(_ context.Context, object client.Object, opts ...client.DeleteOption) error {
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

func (f *face) remove(object client.Object, uid types.UID, revision string) error {
	old, err := f.match(object, uid, revision)
	if err != nil {
		return err
	}
	f.site.state.remove(old)
	return nil
}

// match returns the stored object that a write refers to, or a conflict if its UID or resourceVersion differ.
func (f *face) match(object client.Object, uid types.UID, revision string) (*record, error) {
	kind, err := apiutil.GVKForObject(object, f.site.scheme)
	if err != nil {
		return nil, err
	}
	old := f.site.state.live.find(kind, client.ObjectKeyFromObject(object))
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

func (f *face) Status() client.SubResourceWriter { return &statusFace{face: f} }

// SubResource supports evictions. A pod is removed at once, because no disruption budget exists here.
func (f *face) SubResource(string) client.SubResourceClient { return &evictionFace{face: f} }

type statusFace struct {
	client.SubResourceWriter
	face *face
}

func (f *statusFace) Update(_ context.Context, object client.Object, _ ...client.SubResourceUpdateOption) error {
	return f.face.calls.status(func() error {
		old, err := f.face.match(object, object.GetUID(), object.GetResourceVersion())
		if err != nil {
			return err
		}
		next, _ := object.DeepCopyObject().(client.Object)
		s := f.face.site.state
		s.put(old, next)
		s.own, s.ownTerm = s.revision, f.face.site.term
		set(object, next.DeepCopyObject())
		f.face.told(old.object, next)
		return nil
	})
}

type evictionFace struct {
	client.SubResourceClient
	face *face
}

func (f *evictionFace) Create(_ context.Context, object, _ client.Object, _ ...client.SubResourceCreateOption) error {
	return f.face.calls.evict(func() error { return f.face.remove(object, object.GetUID(), "") })
}

var _ client.Client = &face{}

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
