// Package runtime reconciles objects whose lifecycles are machines.
//
// A reconcile takes at most one transition per lifecycle, writes the object's status at most once, and writes nothing when
// nothing changed. An action runs in a later reconcile than the one that committed its state, on a persisted state that is
// proven current. It disrupts members only under the object's disruption lock. The runtime implements pauses, deadlines,
// back-off, conditions, history, events and metrics. A Kind provides the observation, the effects and the desired children.
package runtime

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// Kind declares what is reconciled for one kind of object: O is the object, V the snapshot of what was observed, E the effects.
// New, Lifecycles and View are required. A nil value of any other function means that the kind has no such step.
type Kind[O Object, V, E any] struct {
	// Name of the kind as users write it. Required.
	Name string
	// New returns an empty object. Required.
	New func() O
	// Lifecycles in order of precedence: the first one that is not at rest is shown in the summary. Required.
	Lifecycles []machines.Lifecycle[O, V, E]
	// Resync is the interval at which an object at rest is reconciled. Optional; default: 10 minutes.
	Resync time.Duration
	// View observes the object's world and returns a snapshot of plain values. What the cache holds is always included; a
	// costly fact only if it is requested. A live observation reads from the source. Required.
	//
	// An error fails the reconcile: no guard is evaluated, and lost children are repaired on a snapshot without needs, if one
	// can be taken. An error that lasts is shown as Stalled. An external system that cannot be read is no error but an
	// unreadable fact. ErrBehind means that a cache has not observed our last write.
	View func(ctx context.Context, object O, look Viewing) (V, error)
	// Perform executes one effect. It must be idempotent. It returns ErrWait if the effect is not possible yet, which is not a
	// failure.
	Perform func(ctx context.Context, task Task[O, V, E]) error
	// Disrupts reports whether the effect disrupts a member, and which. The action of such an effect must have a Before.
	Disrupts func(effect E) (target string, disrupts bool)
	// Availability returns the availability of the object's members from a live snapshot. Required with Disrupts.
	Availability func(object O, view V) Availability
	// SlotOf returns the owner of the disruption lock, for kinds that share children. Optional; default: the object's UID.
	SlotOf func(object O) types.UID
	// Repair restores lost children as they last ran. It runs in every reconcile, also while the object is paused or a change
	// is refused.
	Repair func(ctx context.Context, object O, view V, write Writer) error
	// Apply renders and applies the desired children. It is skipped in a reconcile whose action executed an effect, because the
	// snapshot is older than the effect.
	Apply func(ctx context.Context, object O, view V, write Writer) error
	// Shown are the needs that Project reads. They are observed in every reconcile. Optional; default: none.
	Shown []transitions.Need
	// Project sets the kind's status fields on the object and returns the kind's conditions. It must be pure, and must keep the
	// values of fields that this snapshot does not contain.
	Project func(object O, view V, now time.Time) []metav1.Condition
	// Forget releases what the process holds for a deleted object, such as connections to an external system.
	Forget func(object types.UID)
	// Same compares the status fields that Project sets. Optional; default: comparison by reflection, which costs half of a
	// reconcile at rest.
	Same func(a, b O) bool
}

// Task is the request to execute one effect.
type Task[O Object, V, E any] struct {
	Object O
	// View is the snapshot that the effect was decided on: live if the action requires a live observation.
	View   V
	Effect E
	// Ticket identifies the request to an external system, so that a repeated request is recognised.
	Ticket machines.Ticket
	// Write writes the object's children.
	Write Writer
}

// Viewing is the request for one observation.
type Viewing struct {
	// Needs are the costly facts that are requested.
	Needs []transitions.Need
	// Live requires values that are read from their source during this reconcile.
	Live bool
	// Read reads children: from the API server if Live, and otherwise from a cache that is never behind our last write.
	Read client.Reader
	Now  time.Time
	// MaxAge returns the age from which an observation counts as unreadable.
	MaxAge func(need transitions.Need) time.Duration
	// Tickets of the object's lifecycles, which match answers to external requests.
	Tickets map[string]machines.Ticket
}

// Wants reports whether the need is requested.
func (v Viewing) Wants(need transitions.Need) bool {
	return slices.Contains(v.Needs, need)
}
