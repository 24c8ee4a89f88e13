package store

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Record is one stored version of an object. It is immutable, so that copies of a store share it.
type Record struct {
	Kind   schema.GroupVersionKind
	Key    types.NamespacedName
	Object client.Object
	// Revision is the resourceVersion of the object as a number. Version counts the writes of the object, from 1.
	Revision uint64
	Version  uint32
	// Content is a digest by which the owner of the store compares objects. The store does not read it.
	Content uint64
}

// Objects are the records of an API server or of a cache, by kind and key. A change returns other Objects, so that copies share
// the records.
type Objects []*Record

func (o Objects) index(kind schema.GroupVersionKind, key types.NamespacedName) (int, bool) {
	return slices.BinarySearchFunc(o, key, func(r *Record, key types.NamespacedName) int {
		return cmp.Or(cmp.Compare(r.Kind.Kind, kind.Kind), cmp.Compare(r.Kind.Group, kind.Group),
			cmp.Compare(r.Key.Namespace, key.Namespace), cmp.Compare(r.Key.Name, key.Name))
	})
}

// Find returns the record of the key, or nil.
func (o Objects) Find(kind schema.GroupVersionKind, key types.NamespacedName) *Record {
	if i, found := o.index(kind, key); found {
		return o[i]
	}
	return nil
}

// With returns the objects with the record replaced or added.
func (o Objects) With(r *Record) Objects {
	i, found := o.index(r.Kind, r.Key)
	if found {
		out := slices.Clone(o)
		out[i] = r
		return out
	}
	out := make(Objects, 0, len(o)+1)
	return append(append(append(out, o[:i]...), r), o[i:]...)
}

// Without returns the objects without the record of the key.
func (o Objects) Without(kind schema.GroupVersionKind, key types.NamespacedName) Objects {
	i, found := o.index(kind, key)
	if !found {
		return o
	}
	out := make(Objects, 0, len(o)-1)
	return append(append(out, o[:i]...), o[i+1:]...)
}

// ControlledBy returns the records of the objects that the object controls.
func (o Objects) ControlledBy(object client.Object) []*Record {
	var out []*Record
	for _, r := range o {
		if owner := metav1.GetControllerOf(r.Object); owner != nil && owner.UID == object.GetUID() {
			out = append(out, r)
		}
	}
	return out
}

// Get copies the object of the key into the given one, as an API server does.
func (o Objects) Get(scheme *k8sruntime.Scheme, key client.ObjectKey, into client.Object) error {
	kind, err := apiutil.GVKForObject(into, scheme)
	if err != nil {
		return err
	}
	r := o.Find(kind, key)
	if r == nil {
		return notFound(kind, key.Name)
	}
	Set(into, r.Object.DeepCopyObject())
	return nil
}

// List fills the list with copies of the objects that match the options. Field selectors are not supported.
func (o Objects) List(scheme *k8sruntime.Scheme, list client.ObjectList, opts ...client.ListOption) error {
	kind, err := apiutil.GVKForObject(list, scheme)
	if err != nil {
		return err
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	var options client.ListOptions
	options.ApplyOptions(opts)
	if options.FieldSelector != nil {
		return fmt.Errorf("listing %s: field selectors are not supported here", kind.Kind)
	}
	var items []k8sruntime.Object
	for _, r := range o.matching(kind, &options) {
		items = append(items, r.Object.DeepCopyObject())
	}
	return meta.SetList(list, items)
}

// matching returns the records of the kind that the namespace and the label selector of the options select.
func (o Objects) matching(kind schema.GroupVersionKind, options *client.ListOptions) []*Record {
	var out []*Record
	for _, r := range o {
		if r.Kind != kind || options.Namespace != "" && options.Namespace != r.Key.Namespace {
			continue
		}
		if options.LabelSelector == nil || options.LabelSelector.Matches(labels.Set(r.Object.GetLabels())) {
			out = append(out, r)
		}
	}
	return out
}

// Match returns the record that a write refers to. It returns NotFound if there is none, and a conflict unless its UID and its
// resourceVersion are the given ones; an empty one matches any.
func (o Objects) Match(scheme *k8sruntime.Scheme, object client.Object, uid types.UID, revision string) (*Record, error) {
	kind, err := apiutil.GVKForObject(object, scheme)
	if err != nil {
		return nil, err
	}
	r := o.Find(kind, client.ObjectKeyFromObject(object))
	switch {
	case r == nil:
		return nil, notFound(kind, object.GetName())
	case uid != "" && uid != r.Object.GetUID(), revision != "" && revision != r.Object.GetResourceVersion():
		return nil, apierrors.NewConflict(resourceOf(kind), object.GetName(), errors.New("the object has been modified"))
	}
	return r, nil
}

// Creatable returns AlreadyExists if an object of that name exists.
func (o Objects) Creatable(scheme *k8sruntime.Scheme, object client.Object) (schema.GroupVersionKind, error) {
	kind, err := apiutil.GVKForObject(object, scheme)
	if err == nil && o.Find(kind, client.ObjectKeyFromObject(object)) != nil {
		err = apierrors.NewAlreadyExists(resourceOf(kind), object.GetName())
	}
	return kind, err
}

// Preconditions returns the preconditions of a delete request; empty for none.
func Preconditions(p *metav1.Preconditions) (uid types.UID, revision string) {
	if p != nil && p.UID != nil {
		uid = *p.UID
	}
	if p != nil && p.ResourceVersion != nil {
		revision = *p.ResourceVersion
	}
	return uid, revision
}

// Set copies from into into, which has the same type.
func Set(into client.Object, from k8sruntime.Object) {
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(from).Elem())
}

func notFound(kind schema.GroupVersionKind, name string) error {
	return apierrors.NewNotFound(resourceOf(kind), name)
}

func resourceOf(kind schema.GroupVersionKind) schema.GroupResource {
	return schema.GroupResource{Group: kind.Group, Resource: kind.Kind}
}
