package explore

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// record is one stored version of an object. It is immutable, so that states share it.
type record struct {
	kind     schema.GroupVersionKind
	key      types.NamespacedName
	object   client.Object
	revision uint64
	// version counts the writes of the object, from 1.
	version uint32
	// content is a hash of the object without times, revisions and the persisted states of lifecycles.
	content uint64
}

// objectStore is an object store: records by kind and key. It is immutable.
type objectStore []*record

func (s objectStore) index(kind schema.GroupVersionKind, key types.NamespacedName) (int, bool) {
	return slices.BinarySearchFunc(s, key, func(r *record, key types.NamespacedName) int {
		return cmp.Or(cmp.Compare(r.kind.Kind, kind.Kind), cmp.Compare(r.kind.Group, kind.Group),
			cmp.Compare(r.key.Namespace, key.Namespace), cmp.Compare(r.key.Name, key.Name))
	})
}

func (s objectStore) find(kind schema.GroupVersionKind, key types.NamespacedName) *record {
	if i, found := s.index(kind, key); found {
		return s[i]
	}
	return nil
}

// with returns the store with the record replaced or added.
func (s objectStore) with(r *record) objectStore {
	i, found := s.index(r.kind, r.key)
	if found {
		out := slices.Clone(s)
		out[i] = r
		return out
	}
	out := make(objectStore, 0, len(s)+1)
	return append(append(append(out, s[:i]...), r), s[i:]...)
}

// without returns the store without the record of the key.
func (s objectStore) without(kind schema.GroupVersionKind, key types.NamespacedName) objectStore {
	i, found := s.index(kind, key)
	if !found {
		return s
	}
	out := make(objectStore, 0, len(s)-1)
	return append(append(out, s[:i]...), s[i+1:]...)
}

// Canonical may be implemented by an object to be compared faster than by its JSON, which is the default, and without
// irrelevant fields.
type Canonical interface {
	AppendCanonical(dst []byte) []byte
}

// lifecycled is an object with a status of the runtime.
type lifecycled interface {
	client.Object
	LifecycleStatus() *lifecyclev1.Status
}

// keep returns a record of an object, which must not be modified any more.
func keep(kind schema.GroupVersionKind, object client.Object, version uint32) *record {
	return &record{
		kind: kind, key: client.ObjectKeyFromObject(object), object: object, revision: revisionOf(object), version: version, content: contentOf(object),
	}
}

func revisionOf(object client.Object) uint64 {
	revision, _ := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	return revision
}

// misses reports whether a cache that shows old, or nothing, and then r missed a version in between.
func (r *record) misses(old *record) bool {
	switch {
	case old == nil:
		return r.version > 1
	case old.object.GetUID() != r.object.GetUID():
		return true
	}
	return r.version > old.version+1
}

func contentOf(object client.Object) uint64 {
	var text []byte
	if own, ok := object.(Canonical); ok {
		text = own.AppendCanonical(nil)
	} else {
		text = textOf(object)
	}
	if object.GetDeletionTimestamp() != nil {
		text = append(text, "deleted"...)
	}
	if from, ok := object.(lifecycled); ok {
		text = appendConditions(text, from)
	}
	return xxhash.Sum64(text)
}

// appendConditions appends the conditions without their messages.
func appendConditions(text []byte, from lifecycled) []byte {
	status := from.LifecycleStatus()
	text = append(text, bit(status.ObservedGeneration == from.GetGeneration()))
	for i := range status.Conditions {
		c := &status.Conditions[i]
		text = append(append(append(append(text, c.Type...), 0), c.Status...), 0)
		text = append(append(text, c.Reason...), 0)
	}
	return text
}

// textOf returns the JSON of an object without irrelevant fields: revisions, identities, times, persisted states.
func textOf(object client.Object) []byte {
	plain, _ := object.DeepCopyObject().(client.Object)
	plain.SetResourceVersion("")
	plain.SetUID("")
	plain.SetGeneration(0)
	plain.SetCreationTimestamp(metav1.Time{})
	plain.SetDeletionTimestamp(nil)
	plain.SetManagedFields(nil)
	if from, ok := plain.(lifecycled); ok {
		*from.LifecycleStatus() = lifecyclev1.Status{}
	}
	text, err := json.Marshal(plain)
	if err != nil { // what was read from the API can be encoded
		return []byte(err.Error())
	}
	return text
}

func bit(yes bool) byte {
	if yes {
		return 1
	}
	return 0
}
