// Package runtime reconciles objects whose lifecycles are machines.
//
// A reconcile takes at most one transition of one lifecycle; only the first entries of several lifecycles share one write. It
// writes the object's status at most once, and writes nothing when nothing changed. An action runs in a later reconcile than the one
// that committed its state, on a persisted state that is proven current; the controller does that reconcile at once. It disrupts
// members only under the object's disruption lock. The runtime implements pauses, deadlines, back-off, conditions, history, events
// and metrics. A Kind provides the observation, the effects and the desired children.
package runtime

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// Object is a custom resource whose status contains lifecycles.
type Object interface {
	client.Object
	// LifecycleStatus returns a pointer into the object's status.
	LifecycleStatus() *lifecyclev1.Status
}

// Kind declares what is reconciled for one kind of object: O is the object, S the snapshot of what was observed, E the effects.
// New, Lifecycles and Observe are required. A nil value of any other function means that the kind has no such step. Validate checks it.
type Kind[O Object, S, E any] struct {
	// Name of the kind as users write it. Required.
	Name string
	// New returns an empty object. Required.
	New func() O
	// Lifecycles in order of precedence: the first one that is not at rest is shown in the summary. Required.
	Lifecycles []machines.Lifecycle[O, S, E]
	// Owns are the kinds of the children: an empty object each. SetupWithManager watches them, so that a changed or deleted child
	// enqueues its object; Writer.Own refuses every other kind. Optional; default: none.
	Owns []client.Object
	// OwnerOf returns the requests of the objects that a child belongs to, for children that are found by a label. Optional;
	// default: the controlling owner.
	OwnerOf handler.MapFunc
	// Resync is the interval at which an object at rest is reconciled. Optional; default: 10 minutes.
	Resync time.Duration
	// Observe observes the object's world and returns a snapshot of plain values. What the cache holds is always included; a
	// costly fact only if it is requested. A live observation reads from the source. Required.
	//
	// An error fails the reconcile: no guard is evaluated, and lost children are repaired on a snapshot without needs, if one
	// can be taken. An error that lasts is shown as Stalled. An external system that cannot be read is no error but an
	// unreadable fact. ErrStale means that a cache has not observed our last write.
	Observe func(ctx context.Context, object O, request ObserveRequest) (S, error)
	// ObserveTimeout limits one observation. It must be shorter than the lease's renew deadline, so that a reconcile that started
	// as the leader does not overlap with the next leader for long. Optional; default: 5 seconds.
	ObserveTimeout time.Duration
	// Execute executes one effect. It must be idempotent, and must return when its context ends. It returns ErrWait if the effect is not
	// possible yet, which is not a failure.
	Execute func(ctx context.Context, request EffectRequest[O, S, E]) error
	// ExecuteTimeout limits one effect, one write of records, one Repair and one Apply: until it returns, no other object gets its worker.
	// What takes longer fails, and is backed off and shown. Optional; default: 2 minutes.
	ExecuteTimeout time.Duration
	// Disrupts reports whether the effect disrupts a member, and which. The action of such an effect must have a Precondition.
	Disrupts func(effect E) (target string, disrupts bool)
	// Availability returns the availability of the object's members from a live snapshot. Required with Disrupts.
	Availability func(object O, snapshot S) Availability
	// DisruptionLockOf returns the owner of the disruption lock, for kinds that share children. Optional; default: the object's UID.
	DisruptionLockOf func(object O) types.UID
	// Repair restores lost children as they last ran. It runs in every reconcile, also while the object is paused or a change
	// is refused.
	Repair func(ctx context.Context, object O, snapshot S, write Writer) error
	// Apply renders and applies the desired children. It is skipped in a reconcile whose action executed an effect, because the
	// snapshot is older than the effect.
	Apply func(ctx context.Context, object O, snapshot S, write Writer) error
	// Records is where the kind keeps the records of its machines. Required if an action has Records.
	Records Records[O]
	// AlwaysNeeded are the needs that Project reads, and Instances and Existing of a Binding. They are observed in every reconcile.
	// Optional; default: none.
	AlwaysNeeded []transitions.Need
	// Project sets the kind's status fields on the object and returns the kind's conditions. It must be pure, and must keep the
	// values of fields that this snapshot does not contain.
	Project func(object O, snapshot S, request ProjectRequest) []metav1.Condition
	// PauseAnnotations pause an object while their value is not "false", as PauseAnnotation does. Optional; default: none.
	PauseAnnotations []string
	// Cleanup releases what the process holds for a deleted object, such as connections to an external system.
	Cleanup func(object types.UID)
	// Memory is what the process remembers of its objects besides what the runtime does, such as since when readings were equal.
	// Explorations save and restore it. Required for an exploration of a kind whose Observe remembers anything that changes a decision.
	// Optional; default: nothing is remembered.
	Memory KindMemory
	// StatusEqual compares the status fields that Project sets. Optional; default: comparison by reflection, which costs half of a
	// reconcile at rest.
	StatusEqual func(a, b O) bool
}

// KindMemory is what a kind's process remembers. It is lost when the process ends.
type KindMemory interface {
	// Save returns a copy.
	Save() SavedKindMemory
	// Restore replaces the memory by a copy of a saved one. Nil means that the process has just started.
	Restore(saved SavedKindMemory)
}

// SavedKindMemory is a copy of a KindMemory.
type SavedKindMemory interface {
	// AppendCanonical appends the part that affects further reconciles, as relations: how long a condition has lasted in the relevant
	// steps instead of its start.
	AppendCanonical(dst []byte, now time.Time) []byte
}

// EffectRequest is the request to execute one effect.
type EffectRequest[O Object, S, E any] struct {
	Object O
	// Snapshot is the snapshot that the effect was decided on: live if the action requires a live observation.
	Snapshot S
	Effect   E
	// RequestID identifies the request to an external system, so that a repeated request is recognised.
	RequestID machines.RequestID
	// Instance is the name of the instance, for a lifecycle with several.
	Instance string
	// Write writes the object's children.
	Write Writer
}

// ProjectRequest is the request for the status fields and conditions of an object.
type ProjectRequest struct {
	Now time.Time
	// Applied means that this process has applied the children of the object's generation, and that none has failed since. Without it
	// the object is not Ready, unless its status shows it as Ready for the generation.
	Applied bool
}

// ObserveRequest is the request for one observation.
type ObserveRequest struct {
	// Needs are the costly facts that are requested.
	Needs []transitions.Need
	// Live requires values that are read from their source during this reconcile.
	Live bool
	// Read reads children: from the API server if Live, and otherwise from a cache that is never behind our last write.
	Read client.Reader
	Now  time.Time
	// MaxAge returns the age from which an observation counts as unreadable.
	MaxAge func(need transitions.Need) time.Duration
	// RequestIDs of the object's lifecycles, which match answers to external requests.
	RequestIDs map[string]machines.RequestID
}

// Wants reports whether the need is requested.
func (v ObserveRequest) Wants(need transitions.Need) bool {
	return slices.Contains(v.Needs, need)
}
