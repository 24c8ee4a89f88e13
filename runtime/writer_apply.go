package runtime

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (w *childWriter) Apply(ctx context.Context, child client.Object) error {
	key := client.ObjectKeyFromObject(child)
	want, err := decoded(child)
	if err != nil {
		return fmt.Errorf("copying %T %s: %w", child, key, err)
	}
	want.SetResourceVersion("")
	want.SetUID("")
	if err := w.Own(want); err != nil {
		return err
	}
	stored := copyOf(want)
	blank(stored)
	err = w.children.Reader(w.owner.GetUID(), false).Get(ctx, key, stored)
	if ObjectMissing(err) {
		if err = w.Create(ctx, copyOf(want)); !apierrors.IsAlreadyExists(err) {
			return err
		}
		// The cache does not contain the object: another writer has just created it, or a selector of the cache excludes it.
		blank(stored)
		if err = w.children.live.Get(ctx, key, stored); ObjectMissing(err) {
			return ErrStale
		}
	}
	if err != nil {
		return fmt.Errorf("reading %T %s: %w", child, key, err)
	}
	next, err := w.applied(stored, want, wholeFields(child))
	switch {
	case err != nil:
		return fmt.Errorf("applying %T %s: %w", child, key, err)
	case next == nil:
		return nil
	}
	return w.Update(ctx, next)
}

// decoded returns a copy with the values that the API server would return. Those of an object without a Go type may be of other types, such as
// a float for a whole number in one that was read from YAML, or have an empty map that is not stored: it would never equal what is stored.
func decoded(child client.Object) (client.Object, error) {
	untyped, ok := child.(*unstructured.Unstructured)
	if !ok {
		return copyOf(child), nil
	}
	data, err := untyped.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if typed := coreObject(child); typed != nil {
		if err := json.Unmarshal(data, typed); err != nil {
			return nil, err
		}
		if data, err = json.Marshal(typed); err != nil {
			return nil, err
		}
	}
	want := &unstructured.Unstructured{}
	return want, want.UnmarshalJSON(data)
}

// applied returns the stored child with the wanted fields, and with no other keys in the whole ones; nil if they do not differ.
func (w *childWriter) applied(stored, want client.Object, whole []string) (client.Object, error) {
	if stored.GetDeletionTimestamp() != nil {
		return nil, fmt.Errorf("%w: it is being deleted", ErrWait)
	}
	if metav1.GetControllerOf(stored) == nil && !labelled(stored, want) {
		return nil, fmt.Errorf("an object of this name exists, which no owner controls and which lacks the labels %v of the child: "+
			"if it is the child, add its labels, and otherwise rename or delete one of them", want.GetLabels())
	}
	next := copyOf(stored)
	if err := w.Own(next); err != nil {
		return nil, err
	}
	have, err := k8sruntime.DefaultUnstructuredConverter.ToUnstructured(next)
	if err != nil {
		return nil, err
	}
	fields, err := wantedFields(want)
	if err != nil {
		return nil, err
	}
	changed := !equality.Semantic.DeepEqual(stored.GetOwnerReferences(), next.GetOwnerReferences())
	for _, name := range whole {
		if !equality.Semantic.DeepEqual(fields[name], have[name]) {
			delete(have, name)
			changed = true
		}
	}
	if changed = changed || !covers(have, fields); !changed {
		return nil, nil
	}
	setFields(have, fields)
	blank(next)
	return next, k8sruntime.DefaultUnstructuredConverter.FromUnstructured(have, next)
}

// labelled reports whether a stored object has the labels of the child. A child without labels cannot be recognised.
func labelled(stored, want client.Object) bool {
	have := stored.GetLabels()
	for name, value := range want.GetLabels() {
		if got, ok := have[name]; !ok || got != value {
			return false
		}
	}
	return len(want.GetLabels()) > 0
}

// wantedFields returns the fields that Apply compares and writes.
func wantedFields(want client.Object) (map[string]any, error) {
	_, isSecret := coreObject(want).(*corev1.Secret)
	fields, err := k8sruntime.DefaultUnstructuredConverter.ToUnstructured(want)
	if err != nil {
		return nil, err
	}
	if texts, _ := fields["stringData"].(map[string]any); isSecret && len(texts) > 0 { // is stored in data
		data, _ := fields["data"].(map[string]any)
		if data == nil {
			data = map[string]any{}
		}
		for name, value := range texts {
			if text, ok := value.(string); ok {
				data[name] = base64.StdEncoding.EncodeToString([]byte(text))
			}
		}
		fields["data"] = data
		delete(fields, "stringData")
	}
	for _, name := range []string{"apiVersion", "kind", "status"} {
		delete(fields, name)
	}
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		maps.DeleteFunc(metadata, func(name string, _ any) bool { return name != "labels" && name != "annotations" })
	}
	return fields, nil
}

// wholeFields returns the top-level fields of which Apply also removes keys, because Kubernetes adds none. A child without a Go type that has
// none of them leaves them to others, such as a ConfigMap into which certificates are injected.
func wholeFields(child client.Object) []string {
	if coreObject(child) == nil {
		return nil
	}
	if untyped, ok := child.(*unstructured.Unstructured); ok && untyped.Object["data"] == nil && untyped.Object["binaryData"] == nil && untyped.Object["stringData"] == nil {
		return nil
	}
	return []string{"data", "binaryData"}
}

// coreObject returns an empty ConfigMap or Secret for such an object, also for one without a Go type, and nil for any other.
func coreObject(child client.Object) client.Object {
	switch child := child.(type) {
	case *corev1.ConfigMap:
		return &corev1.ConfigMap{}
	case *corev1.Secret:
		return &corev1.Secret{}
	case *unstructured.Unstructured:
		switch kind := child.GroupVersionKind(); {
		case kind.Group == "" && kind.Kind == "ConfigMap":
			return &corev1.ConfigMap{}
		case kind.Group == "" && kind.Kind == "Secret":
			return &corev1.Secret{}
		}
	}
	return nil
}

// covers reports whether have contains every value that is set in want.
func covers(have, want any) bool {
	switch want := want.(type) {
	case nil:
		return true
	case map[string]any:
		fields, ok := have.(map[string]any)
		for name, value := range want {
			ok = ok && covers(fields[name], value)
		}
		return ok
	case []any:
		items, _ := have.([]any)
		return slices.EqualFunc(items, want, covers)
	default:
		return have == want
	}
}

// setFields sets every value in have that is set in want and differs.
func setFields(have, want map[string]any) {
	for name, value := range want {
		if covers(have[name], value) {
			continue
		}
		inner, isObject := have[name].(map[string]any)
		if wanted, ok := value.(map[string]any); ok && isObject {
			setFields(inner, wanted)
		} else {
			have[name] = value
		}
	}
}

func copyOf(object client.Object) client.Object {
	return object.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy has the type of what it copies
}
