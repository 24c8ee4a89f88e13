package explore

import (
	"cmp"
	"time"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// Subject is what is explored: a kind, an object of it, and what may happen to it besides what may happen to every object.
type Subject[O lifecycle.Object, V, E any] struct {
	// Name of the subject, for reports.
	Name string
	// Kind makes the kind anew. What it needs of the world outside the API it finds at the Site. Demanded.
	Kind func(at *Site) (lifecycle.Kind[O, V, E], error)
	// AddToScheme registers the types of the object and of its children. Demanded.
	AddToScheme []func(*k8sruntime.Scheme) error
	// Object whose lifecycles are explored. Demanded.
	Object O
	// Children that exist in the beginning.
	Children []client.Object
	// Edits are what a person may do to the object; each may happen at any time, any number of times.
	Edits []Edit[O]
	// World outside the API; nil for none. It is cloned, never changed.
	World World
	// Invariant says what is wrong with a state, or nothing. Optional.
	Invariant func(object O, world World) string
	// Settled says what is wrong with the state in which the object came to be Ready. Optional.
	Settled func(object O, world World) string
	// Keep are kinds of children that nobody but the operator and the world removes.
	Keep []string
	// Restored are kinds of children that Repair or Apply makes again: one that is lost must exist again within RestoredWithin passes
	// in which the API took writes of children, whatever happens to the lifecycles. Default: none, and 8 passes,
	// since the cache is given a second, or five passes, to show what was written last.
	Restored       []string
	RestoredWithin int
	// Flapping is how many passes in a row find another target, if the fault Flaps happens. Default 12.
	Flapping int
	// Transitions that a lifecycle may take without progress before it must be slowed down to one per minute. Default 128, which is
	// the runtime's own bound for machines that declare no more than 64 MaxEdges.
	Transitions int
	// Leaps are times that may pass at once while the operator has other things to do, so that whatever needs age comes of age.
	Leaps []time.Duration
	// Ages are the ages, ascending, at which the machines or the world see something else: of states they are in, of processes.
	// Deadlines are seen to without. Default: none.
	Ages []time.Duration
	// Without names the faults that are left out.
	Without []Fault
	// Faults of the World that must strike in a whole search. Default: none.
	Faults []Fault
	// Prompt caches show everything at once, which leaves few states of many: for subjects that are about something else.
	Prompt bool
	// Part says that there are other subjects of the same machines, so that Together asks which edges fired, and Run does not.
	Part bool
	// Unfired are the edges that cannot fire here, as "machine: event from State to State", each with the reason.
	Unfired map[string]string
	// Through is what the operator reaches the API through. A test that wants to know whether a search would notice puts something
	// wrong in between. Default: nothing.
	Through func(cached client.Client, live client.Reader) (client.Client, client.Reader)
	// Passes and Within bound how an object comes to rest once nothing goes wrong any more. Default 100 passes, 2 hours.
	Passes int
	Within time.Duration
}

// Edit is a change that a person may make.
type Edit[O any] struct {
	// Name says what the person does: "asks for 4.1.2".
	Name string
	Make func(object O)
}

// World is what lies outside the API server: processes, brokers, daemons. It is a plain value.
type World interface {
	// Clone shares nothing that changes.
	Clone() World
	// AppendCanonical appends what decides how the world goes on: relations and ages, never times.
	AppendCanonical(dst []byte, at *Site) []byte
	// Next is what may happen next by itself, in an order that follows from the state. What happens when nothing goes wrong
	// has no Fault, and comes about before time passes.
	Next(at *Site) []Happening
}

// Happening is one thing that may happen in the world.
type Happening struct {
	// Name tells it in a story: "node 1 becomes ready".
	Name string
	// Fault that it is, or nothing.
	Fault Fault
	// Do makes it happen at a Site of its own.
	Do func(at *Site)
}

// Fault is a kind of thing that may go wrong, or that a person may do at a bad moment.
type Fault string

// The faults that may happen to every subject. A world may have others.
const (
	DiesBefore Fault = "dies before"
	DiesAfter  Fault = "dies after"
	ReplyLost  Fault = "reply lost"
	Unread     Fault = "unread"
	Restarts   Fault = "restarts"
	Lags       Fault = "lags"
	Waits      Fault = "time"
	Wiped      Fault = "wiped"
	Edited     Fault = "edited"
	PausedBy   Fault = "paused"
	ChildLost  Fault = "child lost"
	// StatusRefused is an API server that refuses every status write with 403 or 422 for several passes, and takes all other writes.
	StatusRefused Fault = "status refused"
	// Flaps is a target that differs in each of several passes, so that a transition may be due in every pass. It needs two Edits.
	Flaps Fault = "flaps"
	// Overlaps is another operator that leads while the one before it still runs, with a cache and a memory of its own.
	Overlaps Fault = "overlaps"
	// Coalesces is a cache that shows what an object has become and never what it was in between. It is no fault: it may happen
	// at any time, and is counted.
	Coalesces Fault = "coalesced"
	// Conflict and the following are what the API server may answer to a write, by its code.
	Conflict  Fault = "409"
	Invalid   Fault = "422"
	Throttled Fault = "429"
	Refused   Fault = "500"
	TimedOut  Fault = "504"
)

// Faults are those that may happen to every subject.
func Faults() []Fault {
	return []Fault{
		DiesBefore, DiesAfter, ReplyLost, Conflict, Invalid, Throttled, Refused, TimedOut, Unread, Restarts, Overlaps, Lags, Coalesces,
		Waits, Wiped, Edited, PausedBy, ChildLost, StatusRefused, Flaps,
	}
}

// Options bound a search.
type Options struct {
	// States to search: to try all that may happen next in. Each leads to several others, which are judged as well. Default 20,000.
	States int
	// Time after which the search ends. Default one minute.
	Time time.Duration
	// Workers that search side by side. Default: as many as there are processors.
	Workers int
	// Until ends the search as soon as something is wrong whose words contain it. Optional.
	Until string
	// Draw is how many states are searched on of those that two faults lead to, then three, and so on: the fewer, the more
	// faults within as many states. 0 searches all. What one fault leads to is searched as a whole.
	Draw int
	// Seed draws them.
	Seed uint64
	// Straight searches one order only of what happens when nothing goes wrong, and every fault on the way: far less than all, and
	// deeper within as many states.
	Straight bool
	// Repeat, unless it is nil, takes these moves and no others, as a violation tells them; then nothing goes wrong any more.
	Repeat []int
}

func (s *Subject[O, V, E]) withDefaults() {
	const restoredWithin, flapping, transitions = 8, 12, 128
	s.RestoredWithin = cmp.Or(s.RestoredWithin, restoredWithin)
	s.Flapping = cmp.Or(s.Flapping, flapping)
	s.Transitions = cmp.Or(s.Transitions, transitions)
	if s.Passes == 0 {
		s.Passes = 100
	}
	if s.Within == 0 {
		s.Within = 2 * time.Hour
	}
}
