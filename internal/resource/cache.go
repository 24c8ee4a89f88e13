package resource

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// CacheOptions limit the cache to the objects of the kinds that the selector matches (nil matches all) and to parts with the label
// of their kind. Managed fields are stripped. Parts that users write are not selected: if an object lacked some of them in the
// cache, what they declare would look undesired. Reading a kind without an informer fails, because it would start a watch in all
// namespaces.
//
// A selector cannot express that one of several labels exists. Parts of one type that belong to kinds with different labels are
// therefore watched without a selector. Of objects that have none of these labels, and that no kind controls, only what identifies
// them is kept.
func CacheOptions(kinds []Kind, namespaces []string, selector apilabels.Selector) (cache.Options, error) {
	o := cache.Options{
		DefaultTransform:            lifecycle.CacheTransform(),
		ReaderFailOnMissingInformer: true,
		ByObject:                    map[client.Object]cache.ByObject{},
	}
	parts := map[schema.GroupVersionResource]client.Object{}
	labels := map[schema.GroupVersionResource][]string{}
	var groups []string
	for i := range kinds {
		k := &kinds[i]
		o.ByObject[k.Object] = cache.ByObject{Label: selector}
		groups = append(groups, k.Resource.Group)
		for _, p := range k.Parts {
			if p.Owner {
				groups = append(groups, p.Resource.Group)
			}
			if p.Access == Declared {
				continue
			}
			if parts[p.Resource] == nil {
				parts[p.Resource] = p.Object
			}
			if !slices.Contains(labels[p.Resource], k.Label) {
				labels[p.Resource] = append(labels[p.Resource], k.Label)
			}
		}
	}
	for of, object := range parts {
		if len(labels[of]) > 1 {
			o.ByObject[object] = cache.ByObject{Transform: identityOfForeign(object, labels[of], groups)}
			continue
		}
		labelled, err := exists(labels[of][0])
		if err != nil {
			return o, fmt.Errorf("selecting the parts with the label %s: %w", labels[of][0], err)
		}
		o.ByObject[object] = cache.ByObject{Label: labelled}
	}
	if len(namespaces) > 0 {
		o.DefaultNamespaces = map[string]cache.Config{}
		for _, ns := range namespaces {
			o.DefaultNamespaces[ns] = cache.Config{}
		}
	}
	return o, nil
}

// exists selects objects with the label, whatever its value.
func exists(label string) (apilabels.Selector, error) {
	requirement, err := apilabels.NewRequirement(label, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	return apilabels.NewSelector().Add(*requirement), nil
}

// identityOfForeign keeps only what identifies an object that has none of the labels and that no object of the API groups controls. empty
// is an object of its type.
func identityOfForeign(empty client.Object, labels, groups []string) toolscache.TransformFunc {
	strip := cache.TransformStripManagedFields()
	return func(in any) (any, error) {
		object, isObject := in.(client.Object)
		out, made := empty.DeepCopyObject().(client.Object)
		if !isObject || !made || belongs(object, labels, groups) {
			return strip(in)
		}
		out.SetNamespace(object.GetNamespace())
		out.SetName(object.GetName())
		out.SetUID(object.GetUID())
		out.SetResourceVersion(object.GetResourceVersion())
		return out, nil
	}
}

func belongs(object client.Object, labels, groups []string) bool {
	for _, name := range labels {
		if _, has := object.GetLabels()[name]; has {
			return true
		}
	}
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return false
	}
	group, _, _ := strings.Cut(owner.APIVersion, "/")
	return slices.Contains(groups, group)
}
