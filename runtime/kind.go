// Package runtime advances the lifecycles of objects, one pass per reconcile.
//
// A pass takes at most one transition of one lifecycle, writes the object's status at most once, and writes nothing when
// nothing changed. An action runs in a later pass than the one that committed its state, on a bookmark proven current, and
// disrupts through the object's single slot. Pauses, deadlines, back-off, conditions, history, events and metrics are the
// runtime's own; a kind brings the view of its world, its effects and its desired children.
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

// Object is a resource whose status carries lifecycles.
type Object interface {
	client.Object
	// LifecycleStatus points into the object's status.
	LifecycleStatus() *lifecyclev1.Status
}

// Kind is what runs on one kind of object: O the object, V the view taken of the world, E the effects.
// Lifecycles, New and View are demanded; nil for any other function means that there is nothing of the sort.
type Kind[O Object, V, E any] struct {
	// Name of the kind as users write it.
	Name string
	// New returns an empty object.
	New func() O
	// Lifecycles in the order in which they speak for the object in its summary.
	Lifecycles []machines.Lifecycle[O, V, E]
	// Resync is how often an object at rest is looked at. Default 10 minutes.
	Resync time.Duration
	// View takes plain values of the world: what the cache knows always, what costs a call as asked. A live look reads from the
	// source. An error fails the pass, and shows as Stalled if it lasts: nothing is decided, and what was lost is repaired on a
	// view without Needs, if there is one. What cannot be read of an external system is an unreadable fact instead.
	// ErrBehind says that a cache has not seen our own last write.
	View func(ctx context.Context, object O, look Viewing) (V, error)
	// Perform carries out one effect. It is idempotent. Not yet possible is ErrWait, which is no failure.
	Perform func(ctx context.Context, task Task[O, V, E]) error
	// Disrupts says whether the effect takes something away, and what. Such an effect belongs to an action with Before.
	Disrupts func(effect E) (target string, disrupts bool)
	// Availability says what of the object is available, from a live view. Required of a kind that Disrupts.
	Availability func(object O, view V) Availability
	// SlotOf says whose slot the object's disruptions need, where kinds share children. Default: the object's own.
	SlotOf func(object O) types.UID
	// Repair brings back what was lost, exactly as it last ran. It runs in every pass, paused or refused or not.
	Repair func(ctx context.Context, object O, view V, write Writer) error
	// Apply renders and applies desired children. It is skipped after an action did something, whose facts it predates.
	Apply func(ctx context.Context, object O, view V, write Writer) error
	// Shown are the costly facts that Project reads: they are observed in every pass.
	Shown []transitions.Need
	// Project sets the kind's own status fields on the object and returns its own conditions. It is pure, and it keeps
	// what it cannot observe in this view.
	Project func(object O, view V, now time.Time) []metav1.Condition
	// Forget drops what the process remembers of an object that is gone, such as connections to the system behind it. Optional.
	Forget func(object types.UID)
	// Same compares the kind's own status fields, those that Project sets. Optional: by reflection if nil, which costs
	// half of a pass at rest.
	Same func(a, b O) bool
}

// Task is one effect to perform.
type Task[O Object, V, E any] struct {
	Object O
	// View the effect was decided on: live if the action demands it.
	View   V
	Effect E
	// Ticket numbers what is asked of an external system.
	Ticket machines.Ticket
	// Write writes the object's children.
	Write Writer
}

// Viewing says what a view is wanted for.
type Viewing struct {
	// Needs are the costly facts that are wanted.
	Needs []transitions.Need
	// Live demands values read in this pass from their source.
	Live bool
	// Read reads children: live if Live, else from a cache that is never behind our own last write.
	Read client.Reader
	Now  time.Time
	// MaxAge is how old an observation may be before it counts as unreadable.
	MaxAge func(need transitions.Need) time.Duration
	// Tickets of the object's lifecycles, for answers to external writes.
	Tickets map[string]machines.Ticket
}

// Wants says whether the need is wanted.
func (v Viewing) Wants(need transitions.Need) bool {
	return slices.Contains(v.Needs, need)
}
