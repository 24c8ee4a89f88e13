package explore

import (
	"encoding/json"
	"strconv"

	"github.com/cespare/xxhash/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/simulator/store"
)

type (
	// record is one stored version of an object, with a hash of its content without times, revisions and the persisted states of
	// lifecycles.
	record = store.Record
	// objectStore are the objects that the API server or a cache shows. It is immutable, so that states share it.
	objectStore = store.Objects
)

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
		Kind: kind, Key: client.ObjectKeyFromObject(object), Object: object, Revision: revisionOf(object), Version: version, Content: contentOf(object),
	}
}

func revisionOf(object client.Object) uint64 {
	revision, _ := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	return revision
}

// misses reports whether a cache that shows old, or nothing, and then r missed a version in between.
func misses(r, old *record) bool {
	switch {
	case old == nil:
		return r.Version > 1
	case old.Object.GetUID() != r.Object.GetUID():
		return true
	}
	return r.Version > old.Version+1
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
