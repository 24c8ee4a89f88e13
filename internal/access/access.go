// Package access restricts exported methods to this module. A method that takes a Key can be called by every package of the module,
// and by no other, because another module cannot make the Key.
package access

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Key permits the call of a method.
type Key struct{}

// Memory is the state that a Reconciler keeps outside the API. Exploration carries it from state to state.
type Memory interface {
	// AppendCanonical appends the part of the state that affects further reconciles, as relations: whether a write of ours was
	// observed instead of its revision, and how long a condition has lasted in the relevant steps instead of its start. cached
	// returns the revision of the object in the cache, by UID.
	AppendCanonical(dst []byte, now time.Time, cached func(types.UID) uint64) []byte
}
