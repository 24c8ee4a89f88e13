package external

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// Object is the Target of a system that needs nothing but the identity of the object: one service for all objects, in which the UID
// is the ID of the object's part.
type Object struct {
	Name types.NamespacedName
	UID  types.UID
}

// Object returns the name and the UID.
func (o Object) Object() (types.NamespacedName, types.UID) { return o.Name, o.UID }

// BuiltFrom returns the UID.
func (o Object) BuiltFrom() string { return string(o.UID) }

// Snapshot is what a reconcile observes of a system whose questions are needs: the readings of the requested needs, and the answers
// to the last commands.
type Snapshot[A any] struct {
	readings map[transitions.Need]Reading[A]
	answers  map[string]Answer
	failures map[string]Answer
	inFlight bool
}

// Observe reads the requested needs of the target and the answers to its commands. While a command may change the system, it is
// read more often.
func Observe[T Target, A, W any](ctx context.Context, system System[T, transitions.Need, A, W], target T, request lifecycle.ObserveRequest) Snapshot[A] {
	s := Snapshot[A]{answers: make(map[string]Answer, len(request.RequestIDs)), failures: map[string]Answer{}}
	for name, id := range request.RequestIDs {
		s.answers[name] = system.Answer(target, id)
		if failed := system.Failure(target, name); failed.State != None {
			s.failures[name] = failed
		}
	}
	last := system.InFlight(target, "") // of another lifecycle as well: the answers are about the same system
	if len(request.Needs) == 0 {
		s.inFlight = request.Now.Before(last.Until) // a guard on what cannot happen any more needs no answer of the system
		return s
	}
	queries := make([]Query[transitions.Need], len(request.Needs))
	for i, need := range request.Needs {
		queries[i] = Query[transitions.Need]{Question: need, MaxAge: request.MaxAge(need)}
		RefreshSooner(last, &queries[i], request.Now)
	}
	s.readings = make(map[transitions.Need]Reading[A], len(queries))
	for i, reading := range system.Read(ctx, target, queries, request.Live, request.Now) {
		s.readings[queries[i].Question] = reading
		s.inFlight = s.inFlight || reading.At.Before(last.Until)
	}
	return s
}

// Fact returns the answer to a need as a fact. A need that was not requested is a fact that was not requested.
func (s Snapshot[A]) Fact(need transitions.Need) transitions.Fact[A] {
	reading, requested := s.readings[need]
	if !requested {
		return transitions.Fact[A]{}
	}
	return Fact(&reading, &reading.Answer)
}

// Known returns the answer to a need, and false if it is not known or was not requested.
func (s Snapshot[A]) Known(need transitions.Need) (answer A, known bool) {
	if fact := s.Fact(need); fact.Asked() {
		return fact.Get()
	}
	return answer, false
}

// Unknown says in words for users why not every answer is known; empty if each that was requested is known, and no command is in flight.
func (s Snapshot[A]) Unknown() string {
	var why []string
	for _, need := range slices.Sorted(maps.Keys(s.readings)) {
		if fact := s.Fact(need); fact.Err() != nil {
			why = append(why, string(need)+" "+fact.Gap().Observed)
		}
	}
	if len(why) == 0 && s.inFlight {
		return "a command may still take effect"
	}
	return strings.Join(why, "; ")
}

// InFlight reports whether a command for the object may have taken effect after the system was read, also one of a lifecycle whose entry
// was lost.
func (s Snapshot[A]) InFlight() bool { return s.inFlight }

// Commands returns the facts about the commands of a lifecycle. A state that was entered later than now counts as entered long ago: the
// clock was set back, and the pause would last as long as it was ahead.
func (s Snapshot[A]) Commands(o machines.ObserveOptions) Commands {
	paused := !o.EnteredAt.After(o.Now) && o.Now.Before(o.EnteredAt.Add(Pause))
	name := o.RequestID.Lifecycle
	return Commands{Answer: s.answers[name], Failure: s.failures[name], InFlight: s.inFlight, Paused: paused}
}

// Pause is how long a lifecycle waits after a failed command before it sends another one.
const Pause = 10 * time.Second
