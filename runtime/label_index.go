package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// LabelIndexer is the part of a manager that IndexLabel needs.
type LabelIndexer interface {
	GetFieldIndexer() client.FieldIndexer
	GetClient() client.Client
}

// IndexLabel lets the manager's cache find the objects of one type by the value of a label. Without it a list compares the labels of all
// objects of the type in the namespace, so that the lists of a fleet cost the square of its size. Lists need no change: the client of
// NewClient uses the index for each selector that requires one value of the label. Another client of the manager is an error, because it
// would never use it. Call it once for each type and label, before the manager starts, and only for types that the manager caches.
func IndexLabel(ctx context.Context, mgr LabelIndexer, label string, object client.Object) error {
	c, ok := mgr.GetClient().(*statusClient)
	if !ok {
		return fmt.Errorf("indexing %T by the label %s: the client of the manager is a %T: set NewClient of the manager's options to runtime.NewClient", object, label, mgr.GetClient())
	}
	gvk, err := apiutil.GVKForObject(object, c.Scheme())
	if err != nil {
		return fmt.Errorf("indexing %T by the label %s: %w", object, label, err)
	}
	err = mgr.GetFieldIndexer().IndexField(ctx, object, labelField(label), func(o client.Object) []string {
		if value, has := o.GetLabels()[label]; has {
			return []string{value}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing %s by the label %s: %w", gvk.Kind, label, err)
	}
	c.indexes.add(gvk, label)
	return nil
}

// labelField is the name of the index of a label among the indexes by fields.
func labelField(label string) string { return "metadata.labels[" + label + "]" }

// labelIndexes are the labels by which the cache of a manager finds objects.
type labelIndexes struct {
	mu sync.RWMutex
	of map[schema.GroupVersionKind][]string
}

func (i *labelIndexes) add(gvk schema.GroupVersionKind, label string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.of == nil {
		i.of = map[schema.GroupVersionKind][]string{}
	}
	i.of[gvk] = append(i.of[gvk], label)
}

// narrowed returns the options of a list, with the index of the first label of which the selector requires one value.
func (i *labelIndexes) narrowed(list client.ObjectList, scheme *k8sruntime.Scheme, opts []client.ListOption) []client.ListOption {
	switch list.(type) {
	case *unstructured.UnstructuredList, *metav1.PartialObjectMetadataList: // have caches of their own, or none
		return opts
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	if o.LabelSelector == nil || o.FieldSelector != nil {
		return opts
	}
	gvk, err := apiutil.GVKForObject(list, scheme)
	if err != nil { // the list itself reports it
		return opts
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	i.mu.RLock()
	indexed := i.of[gvk]
	i.mu.RUnlock()
	if len(indexed) == 0 {
		return opts
	}
	requirements, _ := o.LabelSelector.Requirements()
	for n := range requirements {
		if value, one := oneValue(&requirements[n]); one && slices.Contains(indexed, requirements[n].Key()) {
			return append(slices.Clip(opts), client.MatchingFields{labelField(requirements[n].Key()): value})
		}
	}
	return opts
}

// oneValue returns the only value of a label that satisfies the requirement.
func oneValue(r *labels.Requirement) (string, bool) {
	values := r.ValuesUnsorted()
	if len(values) != 1 || !slices.Contains([]selection.Operator{selection.Equals, selection.DoubleEquals, selection.In}, r.Operator()) {
		return "", false
	}
	return values[0], true
}
