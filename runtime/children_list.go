package runtime

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

func (r *childReader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := r.children.client.List(ctx, list, opts...); err != nil {
		return err
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	marks, err := r.marked(list, &o)
	if err != nil || len(marks) == 0 {
		return err
	}
	found, err := byName(list)
	if err != nil {
		return err
	}
	late, err := r.lateness(ctx, marks, found, list, &o)
	if err != nil {
		return err
	}
	switch late {
	case current:
		return nil
	case wait:
		return ErrStale
	case tooLate: // read live below
	}
	blank(list)
	if err := r.children.live.List(ctx, list, opts...); err != nil {
		return err
	}
	if found, err = byName(list); err != nil {
		return err
	}
	for _, key := range marks {
		if found[key.name] != nil || o.FieldSelector == nil { // else it may only be outside of the selection
			r.children.saw(r.owner, key, found[key.name])
		}
	}
	return nil
}

// lateness is that of the latest child. A child that is not in a selection by fields is read alone: it may be outside of the selection.
func (r *childReader) lateness(ctx context.Context, marks []childKey, found map[types.NamespacedName]client.Object, list client.ObjectList, o *client.ListOptions) (worst lateness, err error) {
	for _, key := range marks {
		one := found[key.name]
		if one == nil && o.FieldSelector != nil {
			if one, err = r.alone(ctx, key, list); err != nil {
				return worst, err
			}
		}
		worst = max(worst, r.children.behind(r.owner, key, one))
	}
	return worst, nil
}

// alone reads a child from the cache that answered the list, or returns nil if it is not there.
func (r *childReader) alone(ctx context.Context, key childKey, list client.ObjectList) (client.Object, error) {
	var one client.Object
	switch list.(type) {
	case *unstructured.UnstructuredList:
		one = &unstructured.Unstructured{}
	case *metav1.PartialObjectMetadataList:
		one = &metav1.PartialObjectMetadata{}
	default:
		typed, err := r.children.client.Scheme().New(key.kind)
		if err != nil {
			return nil, fmt.Errorf("listing children: %w", err)
		}
		object, ok := typed.(client.Object)
		if !ok {
			return nil, fmt.Errorf("listing children: %T is not an object", typed)
		}
		one = object
	}
	one.GetObjectKind().SetGroupVersionKind(key.kind)
	if err := r.children.client.Get(ctx, key.name, one); err != nil {
		return nil, IgnoreMissing(err)
	}
	return one, nil
}

// marked returns the children that the list would contain and whose last write the cache has not shown yet.
func (r *childReader) marked(list client.ObjectList, o *client.ListOptions) ([]childKey, error) {
	marks := r.children.of(r.owner)
	if len(marks) == 0 {
		return nil, nil
	}
	gvk, err := apiutil.GVKForObject(list, r.children.client.Scheme())
	if err != nil {
		return nil, err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	var keys []childKey
	for key, m := range marks {
		if key.kind == gvk && (o.Namespace == "" || o.Namespace == key.name.Namespace) && selected(o, m.labels) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

func selected(o *client.ListOptions, have map[string]string) bool {
	return o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(have))
}

func byName(list client.ObjectList) (map[types.NamespacedName]client.Object, error) {
	found := map[types.NamespacedName]client.Object{}
	err := meta.EachListItem(list, func(item k8sruntime.Object) error {
		object, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("listing children: %T is not an object", item)
		}
		found[client.ObjectKeyFromObject(object)] = object
		return nil
	})
	return found, err
}
