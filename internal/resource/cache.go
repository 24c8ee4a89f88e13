package resource

import (
	"fmt"

	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CacheOptions limit the cache to the objects of the kinds that the selector matches (nil matches all) and to parts with the label
// of their kind. Managed fields are stripped. Parts that users write are not selected: if an object lacked some of them in the
// cache, what they declare would look undesired. Reading a kind without an informer fails, because it would start a watch in all
// namespaces.
//
// A selector cannot express that one of several labels exists. Parts of one type that belong to kinds with different labels are
// therefore cached without a selector.
func CacheOptions(kinds []Kind, namespaces []string, selector apilabels.Selector) (cache.Options, error) {
	o := cache.Options{
		DefaultTransform:            cache.TransformStripManagedFields(),
		ReaderFailOnMissingInformer: true,
		ByObject:                    map[client.Object]cache.ByObject{},
	}
	parts := map[schema.GroupVersionResource]client.Object{}
	for i := range kinds {
		k := &kinds[i]
		o.ByObject[k.Object] = cache.ByObject{Label: selector}
		labelled, err := exists(k.Label)
		if err != nil {
			return o, fmt.Errorf("selecting the parts of kind %s: %w", k.Name, err)
		}
		for _, p := range k.Parts {
			if p.Access == Declared {
				continue
			}
			by := cache.ByObject{Label: labelled}
			object, again := parts[p.Resource]
			if !again {
				object = p.Object
				parts[p.Resource] = object
			} else if was := o.ByObject[object].Label; was == nil || was.String() != labelled.String() {
				by.Label = nil
			}
			o.ByObject[object] = by
		}
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
