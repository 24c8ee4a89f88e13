package pass_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// The toy object has two tanks, left and right, each filled by a lifecycle of its own under one machine.

type tank struct {
	Want, Have int
	Intact     bool
	Pouring    bool                   // all that the tank is to get is on its way
	Permit     transitions.Fact[bool] // need permit: may it be filled?
	Queue      transitions.Fact[bool] // need queue: is it its turn?
	Level      transitions.Fact[bool] // need level: can its level be read?
}

// world is the snapshot: the tanks by lifecycle.
type world map[string]tank

type none = struct{}

type (
	lifecycle  = machines.Evaluator[string, world, string]
	input      = pass.In[string, world, string]
	stepOfCase = pass.Step[string, world, string]
)

func costly(name string, need transitions.Need, read func(*tank) transitions.Fact[bool]) transitions.Guard[tank, none] {
	return transitions.Guard[tank, none]{
		Name: name, Doc: "says what is read of " + name, Expected: "a yes of " + name, Needs: []transitions.Need{need},
		Evaluate: func(t *tank, _ none) transitions.Verdict {
			fact := read(t)
			yes, known := fact.Get()
			if !known {
				return fact.Gap()
			}
			return transitions.If(yes, "not yet")
		},
	}
}

func cheap(name string, read func(*tank) bool) transitions.Guard[tank, none] {
	return transitions.Guard[tank, none]{
		Name: name, Doc: "says what the cache knows of " + name, Expected: "a yes of " + name,
		Evaluate: func(t *tank, _ none) transitions.Verdict { return transitions.If(read(t), "not so") },
	}
}

func compile(t testing.TB) *machines.Machine[tank, none, string] {
	t.Helper()
	m, err := machines.Compile(definition())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func definition() machines.Definition[tank, none, string] {
	full := cheap("full", func(t *tank) bool { return t.Have == t.Want })
	return machines.Definition[tank, none, string]{
		Name: "fill", Doc: "fills a tank",
		States: []machines.State[tank, none, string]{
			{State: states.State{Name: "Idle", Kind: states.Rest, Doc: "the tank is full"}},
			{
				State:     states.State{Name: "Waiting", Kind: states.Wait, Doc: "is it its turn?", Deadline: time.Minute, Poll: time.Second},
				Invariant: transitions.Always[tank, none](), OnTargetChange: machines.KeepAttempt,
			},
			{
				State:     states.State{Name: "Filling", Kind: states.Work, Doc: "the tank is filled", Deadline: time.Minute, Poll: time.Second},
				Invariant: cheap("intact", func(t *tank) bool { return t.Intact }), OnTargetChange: "Waiting",
				Action: &machines.Action[tank, none, string]{
					Name: "fill", Doc: "fills the tank", Precondition: costly("permitted", "permit", func(t *tank) transitions.Fact[bool] { return t.Permit }),
					OnPreconditionFailed: "Waiting", RequeueAfter: 2 * time.Second,
					Effects: func(t *tank, _ none) []string {
						if t.Pouring {
							return nil
						}
						return []string{"fill to " + strconv.Itoa(t.Want)}
					},
				},
			},
		},
		Transitions: []machines.Transition[tank, none]{
			{Event: "wanted", From: "Idle", To: "Waiting", When: transitions.Not(full, "another level"), NewAttempt: true, Doc: "another level is wanted"},
			{Event: "granted", From: "Waiting", To: "Filling", When: costly("its-turn", "queue", func(t *tank) transitions.Fact[bool] { return t.Queue }), Awaited: true, Doc: "it is its turn"},
			{Event: "filled", From: "Filling", To: "Idle", When: full, Doc: "the level is reached"},
		},
		Needs: []machines.Need{
			{Name: "permit", Doc: "asks for a permit"}, {Name: "queue", Doc: "asks for the queue"}, {Name: "level", Doc: "asks for the level"},
		},
		Target: func(t *tank) machines.Target { return machines.Target{To: strconv.Itoa(t.Want)} },
		Infer: machines.Inference[tank, none]{
			Needs: []transitions.Need{"level"}, States: []string{"Idle", "Waiting"},
			Find: func(t *tank) (machines.InferredState[none], transitions.Verdict) {
				if _, known := t.Level.Get(); !known {
					return machines.InferredState[none]{}, t.Level.Gap()
				}
				if t.Have == t.Want {
					return machines.InferredState[none]{State: "Idle"}, transitions.Allow()
				}
				return machines.InferredState[none]{State: "Waiting"}, transitions.Allow()
			},
		},
	}
}

// bind makes the lifecycle of one tank. What was not asked for is left out of its facts.
func bind(m *machines.Machine[tank, none, string], name string) lifecycle {
	return machines.Bind(m, machines.Binding[string, world, tank, string, string]{
		Name: name,
		Facts: func(_ string, snapshot world, ask machines.ObserveOptions) tank {
			seen := snapshot[name]
			if !ask.Wants("permit") {
				seen.Permit = transitions.Fact[bool]{}
			}
			if !ask.Wants("queue") {
				seen.Queue = transitions.Fact[bool]{}
			}
			if !ask.Wants("level") {
				seen.Level = transitions.Fact[bool]{}
			}
			return seen
		},
		Effect: func(effect string) string { return name + ": " + effect },
	}).Evaluator(access.Key{})
}

var now = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

const uid = "77c1"

// known is a tank of which everything can be read.
func known(have, want int) tank {
	yes := transitions.Known(true, now)
	return tank{Have: have, Want: want, Intact: true, Permit: yes, Queue: yes, Level: yes}
}

// at is an entry under an attempt towards the level.
func at(name, state, target string) lifecyclev1.Lifecycle {
	start := now.Add(-time.Minute)
	return lifecyclev1.Lifecycle{
		Name: name, State: state, EnteredAt: metav1.NewTime(start),
		Attempt: &lifecyclev1.Attempt{ID: machines.AttemptID(uid, name, target, start), To: target, StartedAt: metav1.NewTime(start)},
	}
}

// evaluated is one call of Snapshot.
type evaluated struct {
	Needs []transitions.Need
	Live  bool
}

// given makes an input over a world, and lists the calls of Snapshot.
func given(t testing.TB, w world, entries ...lifecyclev1.Lifecycle) (input, *[]evaluated) {
	m := compile(t)
	var calls []evaluated
	in := input{
		Object: "tanks", Lifecycles: []lifecycle{bind(m, "left"), bind(m, "right")}, Status: &lifecyclev1.Status{Lifecycles: entries},
		UID: uid, Generation: 3, Now: now,
		Observe: func(needs []transitions.Need, live bool) (world, error) {
			calls = append(calls, evaluated{Needs: slices.Clone(needs), Live: live})
			return w, nil
		},
	}
	return in, &calls
}
