package turnstile

import (
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// States of the lifecycle lamp.
const (
	Lit          = "Lit"
	Switching    = "Switching"
	AwaitingGlow = "AwaitingGlow"
	// Burning is what an earlier release called Lit.
	Burning = "Burning"
)

type lampGuard = transitions.Guard[LampFacts, struct{}]

var (
	shown = lampGuard{
		Name: "shown", Doc: "the lamp shows the desired colour", Expected: "the lamp to show the desired colour",
		Evaluate: func(f *LampFacts, _ struct{}) transitions.Verdict {
			return transitions.If(f.Shown == f.Wanted, f.Shown)
		},
	}
	glows = lampGuard{
		Name: "glows", Doc: "the lamp glows", Expected: "the lamp to glow",
		Evaluate: func(f *LampFacts, _ struct{}) transitions.Verdict { return transitions.If(f.Glows, "dark") },
	}
)

// LampDefinition is the lifecycle lamp: Lit -> Switching -> AwaitingGlow -> Lit.
func LampDefinition() machines.Definition[LampFacts, struct{}, Effect] {
	always := transitions.Always[LampFacts, struct{}]()
	return machines.Definition[LampFacts, struct{}, Effect]{
		Name: "turnstile-lamp", Doc: "changes the colour of the lamp",
		States: []machines.State[LampFacts, struct{}, Effect]{
			{State: states.State{Name: Lit, Kind: states.Rest, Doc: "the lamp shows the desired colour"}},
			{State: states.State{Name: Switching, Kind: states.Work, Doc: "the colour is being changed", Deadline: deadline, Poll: poll}, Invariant: always, OnTargetChange: Switching,
				Action: &machines.Action[LampFacts, struct{}, Effect]{Name: "switch", Doc: "sets the colour", Effects: func(f *LampFacts, _ struct{}) []Effect {
					if f.Shown == f.Wanted {
						return nil
					}
					return []Effect{{Op: "switch", Value: f.Wanted}}
				}}},
			{State: states.State{Name: AwaitingGlow, Kind: states.Wait, Doc: "the lamp warms up", Deadline: deadline, Poll: poll}, Invariant: shown, OnTargetChange: Switching},
		},
		Transitions: []machines.Transition[LampFacts, struct{}]{
			{Event: "colour-changed", From: Lit, To: Switching, NewAttempt: true, When: transitions.Not(shown, "another colour"), Doc: "the desired colour changed"},
			{Event: "switched", From: Switching, To: AwaitingGlow, Awaited: true, When: shown, Doc: "the new colour was observed"},
			{Event: "glowing", From: AwaitingGlow, To: Lit, Awaited: true, When: transitions.All(shown, glows), Doc: "the lamp glows"},
		},
		Target: func(f *LampFacts) machines.Target { return machines.Target{From: f.Shown, To: f.Wanted} },
		Infer: machines.Inference[LampFacts, struct{}]{States: []string{Lit}, Find: func(*LampFacts) (machines.InferredState[struct{}], transitions.Verdict) {
			return machines.InferredState[struct{}]{State: Lit}, transitions.Allow()
		}},
		Migrations: map[string]string{Burning: Lit},
	}
}
