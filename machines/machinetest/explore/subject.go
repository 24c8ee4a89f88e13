package explore

import (
	"cmp"
	"time"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// Subject is the input of an exploration: a kind, an object, and the events that are possible in addition to those of every
// object.
type Subject[O lifecycle.Object, S, E any] struct {
	// Name of the subject, for reports.
	Name string
	// Kind returns a new kind. It accesses the world outside the API through the Scenario. Required.
	Kind func(at *Scenario) (lifecycle.Kind[O, S, E], error)
	// AddToScheme registers the types of the object and of its children. Required.
	AddToScheme []func(*k8sruntime.Scheme) error
	// Object whose lifecycles are explored. Required.
	Object O
	// Children that exist at the start. An object with a creation timestamp keeps it. Optional.
	Children []client.Object
	// Edits are the changes that users may make. Each may happen at any time and repeatedly. Optional.
	Edits []Edit[O]
	// World outside the API. It is cloned, never modified. Optional; default: none.
	World World
	// Invariant returns what is wrong with a state, or nil. Optional.
	Invariant func(object O, world World) error
	// Inspect returns a further check of searched states, one for each worker. The check may read objects and run code through
	// the Scenario, whose state is a copy. It returns what is wrong with the state, or nil. Optional; default: none.
	Inspect func(at *Scenario) (func() error, error)
	// Settled returns what is wrong with a state in which the object became Ready, or nil. Optional.
	Settled func(object O, world World) error
	// Released returns what outlives the object in the world once the API server has deleted it, or nil. Optional.
	Released func(world World) error
	// Keep are kinds of children that only the operator and the world delete. Optional.
	Keep []string
	// Restored are kinds of children that Repair or Apply creates again: a lost one must exist again within RestoredWithin
	// reconciles in which the API accepted writes of children, in any state of the lifecycles. Optional; default: none, and 8
	// reconciles, because the cache has a second, or five reconciles, to show the last write.
	Restored       []string
	RestoredWithin int
	// RestoredIf reports whether they are created again in this world: reconciles in which it returns false do not count. Optional;
	// default: always.
	RestoredIf func(world World) bool
	// Flapping is the number of consecutive reconciles with another target after the fault Flaps. Optional; default: 12.
	Flapping int
	// Transitions is the number of transitions without progress after which a lifecycle must be slowed to one per minute.
	// Optional; default: 128, which is the runtime's limit for machines with at most 64 MaxTransitionsWithoutProgress.
	Transitions int
	// Leaps are durations that may pass at once while the operator is busy, so that every age is reached. Optional.
	Leaps []time.Duration
	// Ages are the ages, ascending, at which the machines or the world behave differently: of states, of processes. Deadlines
	// need no entry. Optional; default: none.
	Ages []time.Duration
	// Without names faults to exclude. Optional.
	Without []Fault
	// Faults of the World that must occur in a complete search. Optional; default: none.
	Faults []Fault
	// Prompt caches show every write at once, which reduces the number of states, for subjects that do not test staleness.
	Prompt bool
	// Part means that other subjects cover the same machines: Together checks which edges fired, and Run does not.
	Part bool
	// Unfired are the edges that cannot be taken here, as "machine: event from State to State", each with the reason.
	Unfired map[string]string
	// Through wraps the operator's clients, so that a test can check whether a search detects a defect there. Optional;
	// default: no wrapper.
	Through func(cached client.Client, live client.Reader) (client.Client, client.Reader)
	// Passes and Within limit how an object comes to rest once no further fault occurs. Optional; default: 100 reconciles, 2
	// hours.
	Passes int
	Within time.Duration
}

// Edit is a change that a user may make.
type Edit[O any] struct {
	// Name says what the user does: "asks for 4.1.2".
	Name string
	Make func(object O)
}

// World is everything outside the API server: processes, brokers, daemons. It is a plain value.
type World interface {
	// Clone returns a copy that shares nothing mutable.
	Clone() World
	// AppendCanonical appends everything that the future of the world depends on: relations and ages, never times.
	AppendCanonical(dst []byte, at *Scenario) []byte
	// Next returns the possible events of the world, in an order that depends only on the state. An event without a Fault
	// happens before time passes.
	Next(at *Scenario) []Step
}

// Step is one possible event of the world.
type Step struct {
	// Name in a story: "node 1 becomes ready".
	Name string
	// Fault that the event is, or empty.
	Fault Fault
	// Do applies the event to a Scenario.
	Do func(at *Scenario)
}

// Fault is a kind of failure, or a user's action at a critical moment.
type Fault string

// The faults of every subject. A world may have others.
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
	// Deleted: a user deletes the object. Only for kinds with a machine that declares a deletion.
	Deleted Fault = "deleted"
	// StatusRefused: the API server refuses every status write with 403 or 422 for several reconciles, and accepts all other
	// writes.
	StatusRefused Fault = "status refused"
	// Flaps: the target differs in each of several reconciles, so that a transition may be due in every one. It needs two
	// Edits.
	Flaps Fault = "flaps"
	// Overlaps: another operator leads while the previous leader still runs, with its own cache and memory.
	Overlaps Fault = "overlaps"
	// Coalesces: a cache shows the last version of an object and none in between. It is not a fault: it may happen at any time,
	// and is counted.
	Coalesces Fault = "coalesced"
	// Continues: the operator reconciles again at once after a commit, on the object that the API server returned. It is not a
	// fault: the controller always does it, and is searched with and without it.
	Continues Fault = "continues"
	// Conflict and the following are answers of the API server to a write, by their code.
	Conflict  Fault = "409"
	Invalid   Fault = "422"
	Throttled Fault = "429"
	Refused   Fault = "500"
	TimedOut  Fault = "504"
)

// Faults returns the faults of every subject.
func Faults() []Fault {
	return []Fault{
		DiesBefore, DiesAfter, ReplyLost, Conflict, Invalid, Throttled, Refused, TimedOut, Unread, Restarts, Overlaps, Lags, Coalesces, Continues,
		Waits, Wiped, Edited, PausedBy, ChildLost, Deleted, StatusRefused, Flaps,
	}
}

// Options limit a search.
type Options struct {
	// States is the number of states to search. Each leads to several others, which are checked as well. Optional; default:
	// 20,000.
	States int
	// Time limit of the search. Optional; default: one minute.
	Time time.Duration
	// Workers that search in parallel. Optional; default: the number of processors.
	Workers int
	// Until ends the search at the first violation that contains this text. Optional.
	Until string
	// Draw is the size of the sample that is searched of the states that two faults lead to, of those of three, and so on. A
	// smaller sample allows more faults within the same number of states. 0 searches all. All states after one fault are
	// searched.
	Draw int
	// Seed of the sample.
	Seed uint64
	// Straight searches one order of the steps without faults, and every fault on the way: much less than all, and deeper
	// within the same number of states.
	Straight bool
	// Shuffle searches the states after each further fault in an order that depends on Seed, and no more than States. A small search
	// then has faults at all steps, and not only at the first ones.
	Shuffle bool
	// Follow is the number of states, of those that are not searched, that are followed without faults until they rest. Optional;
	// default: 100.
	Follow int
	// InspectEach inspects each nth of the searched states, if the Subject has an inspection. Optional; default: 1, which is all.
	InspectEach int
	// Repeat, unless nil, takes these moves and no others, as a violation lists them, and continues without faults.
	Repeat []int
}

func (s *Subject[O, S, E]) withDefaults() {
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
