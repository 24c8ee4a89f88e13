package runtime_test

import (
	"testing"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
	"github.com/detent-dev/detent/transitions"
)

// toyFacts are the facts of the machines below: how often they were observed.
type toyFacts struct{ Now time.Time }

type (
	toyState = machines.State[toyFacts, struct{}, turnstile.Effect]
	toyRow   = machines.Transition[toyFacts, struct{}]
	toyGuard = transitions.Guard[toyFacts, struct{}]
)

func bindToy(t *testing.T, name string, states []toyState, rows []toyRow, maxTransitionsWithoutProgress int32) turnstile.Lifecycle {
	t.Helper()
	machine, err := machines.Compile(machines.Definition[toyFacts, struct{}, turnstile.Effect]{
		Name: name, Doc: "a toy", States: states, Transitions: rows, MaxTransitionsWithoutProgress: maxTransitionsWithoutProgress,
		Target: func(*toyFacts) machines.Target { return machines.Target{To: "there"} },
		Infer: machines.Inference[toyFacts, struct{}]{States: []string{states[0].Name}, Find: func(*toyFacts) (machines.InferredState[struct{}], transitions.Verdict) {
			return machines.InferredState[struct{}]{State: states[0].Name}, transitions.Allow()
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return machines.Bind(machine, machines.Binding[*api.Turnstile, turnstile.Snapshot, toyFacts, turnstile.Effect, turnstile.Effect]{
		Name: name,
		Facts: func(_ *api.Turnstile, _ turnstile.Snapshot, ask machines.ObserveOptions) toyFacts {
			return toyFacts{Now: ask.Now}
		},
	})
}

// panicking is a lifecycle whose only guard panics until it is healed.
func panicking(t *testing.T, healed *bool) turnstile.Lifecycle {
	t.Helper()
	broken := toyGuard{Name: "broken", Doc: "never says anything", Expected: "nothing", Evaluate: func(*toyFacts, struct{}) transitions.Verdict {
		if *healed {
			return transitions.Deny("healed")
		}
		panic("nothing was looked at")
	}}
	return bindToy(t, "broken",
		[]toyState{{State: states.State{Name: "Start", Kind: states.Rest, Doc: "here"}}, {State: states.State{Name: "End", Kind: states.Rest, Doc: "there"}}},
		[]toyRow{
			{Event: "go", From: "Start", To: "End", When: broken, Doc: "goes"},
			{Event: "back", From: "End", To: "Start", When: broken, Doc: "goes back"},
		}, 0)
}

// spinning is a lifecycle that moves in a loop without progress. Its way back is quiet.
func spinning(t *testing.T) turnstile.Lifecycle {
	t.Helper()
	always := transitions.Always[toyFacts, struct{}]()
	wait := func(name string) toyState {
		return toyState{
			State:     states.State{Name: name, Kind: states.Wait, Doc: "on the way", Deadline: time.Hour, Poll: 5 * time.Second},
			Invariant: always, OnTargetChange: name,
		}
	}
	return bindToy(t, "spinning", []toyState{wait("Left"), wait("Right")}, []toyRow{
		{Event: "right", From: "Left", To: "Right", Awaited: true, When: always, Doc: "goes right"},
		{Event: "left", From: "Right", To: "Left", Awaited: true, Quiet: true, When: always, Doc: "goes left"},
	}, 6)
}

// greedy is a lifecycle whose action requests two disruptions at once.
func greedy(t *testing.T) turnstile.Lifecycle {
	t.Helper()
	return atWork(t, "greedy", func() []turnstile.Effect { return []turnstile.Effect{{Op: "shove", Arm: "0"}, {Op: "shove", Arm: "1"}} })
}

// sweeping is a lifecycle that removes dirt for good.
func sweeping(t *testing.T, dirty *bool) turnstile.Lifecycle {
	t.Helper()
	return atWork(t, "sweeping", func() []turnstile.Effect {
		if !*dirty {
			return nil
		}
		return []turnstile.Effect{{Op: "sweep"}}
	})
}

// atWork is a lifecycle that goes to work and stays there. Its action disrupts a member.
func atWork(t *testing.T, name string, do func() []turnstile.Effect) turnstile.Lifecycle {
	t.Helper()
	always := transitions.Always[toyFacts, struct{}]()
	work := &machines.Action[toyFacts, struct{}, turnstile.Effect]{
		Name: name, Doc: "does what it is there for", Precondition: always, OnPreconditionFailed: "Calm",
		Effects: func(*toyFacts, struct{}) []turnstile.Effect { return do() },
	}
	return bindToy(t, name,
		[]toyState{
			{State: states.State{Name: "Calm", Kind: states.Rest, Doc: "calm"}},
			{State: states.State{Name: "Working", Kind: states.Work, Doc: "works", Poll: time.Second}, Invariant: always, OnTargetChange: machines.KeepAttempt, Action: work},
		},
		[]toyRow{
			{Event: "start", From: "Calm", To: "Working", When: always, Doc: "starts"},
			{Event: "end", From: "Working", To: "Calm", When: transitions.Not(always, "nothing that could be"), Doc: "ends"},
		}, 0)
}

// knocking is a lifecycle whose action knocks in every reconcile until the door is open. Only the persisted state ends it.
func knocking(t *testing.T, open *bool) turnstile.Lifecycle {
	t.Helper()
	always := transitions.Always[toyFacts, struct{}]()
	isOpen := toyGuard{Name: "open", Doc: "the door is open", Expected: "an open door", Evaluate: func(*toyFacts, struct{}) transitions.Verdict {
		return transitions.If(*open, "closed")
	}}
	return bindToy(t, "knocking",
		[]toyState{
			{State: states.State{Name: "Calm", Kind: states.Rest, Doc: "calm"}},
			{State: states.State{Name: "Knocking", Kind: states.Work, Doc: "knocks", Poll: time.Second}, Invariant: always, OnTargetChange: machines.KeepAttempt,
				Action: &machines.Action[toyFacts, struct{}, turnstile.Effect]{Name: "knock", Doc: "knocks", Effects: func(*toyFacts, struct{}) []turnstile.Effect {
					return []turnstile.Effect{{Op: "knock"}}
				}}},
		},
		[]toyRow{
			{Event: "closed", From: "Calm", To: "Knocking", When: transitions.Not(isOpen, "a closed door"), Doc: "starts"},
			{Event: "opened", From: "Knocking", To: "Calm", When: isOpen, Doc: "ends"},
		}, 0)
}

// turning is a lifecycle that waits in either of two states until the verdict says yes.
func turning(t *testing.T, saw *transitions.Verdict) turnstile.Lifecycle {
	t.Helper()
	always := transitions.AlwaysBecause[toyFacts, struct{}]("only the verdict ends the wait")
	turned := toyGuard{Name: "turned", Doc: "the verdict says yes", Expected: "a yes", Evaluate: func(*toyFacts, struct{}) transitions.Verdict { return *saw }}
	wait := func(name string) toyState {
		return toyState{State: states.State{Name: name, Kind: states.Wait, Doc: "waits", Deadline: time.Hour}, Invariant: always, OnTargetChange: machines.KeepAttempt}
	}
	return bindToy(t, "turning", []toyState{wait("Left"), wait("Right")},
		[]toyRow{
			{Event: "right", From: "Left", To: "Right", When: turned, Awaited: true, Doc: "turns right"},
			{Event: "left", From: "Right", To: "Left", When: turned, Awaited: true, Doc: "turns left"},
		}, 0)
}
