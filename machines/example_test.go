package machines_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

type (
	// valveFacts are observed: the spec and the position of a valve. Both are in the cache, so that no fact has a need.
	valveFacts struct{ Wanted, Position string }
	// valveData is empty: no transition computes data.
	valveData = struct{}
	// valveEffect is what an action requests, as data.
	valveEffect string
)

var inPosition = transitions.Guard[valveFacts, valveData]{
	Name: "in-position", Doc: "the valve is in the wanted position", Expected: "the wanted position",
	Evaluate: func(f *valveFacts, _ valveData) transitions.Verdict {
		return transitions.If(f.Position == f.Wanted, f.Position)
	},
}

// valve turns a valve: Settled -> Turning -> Settled.
func valve() machines.Definition[valveFacts, valveData, valveEffect] {
	return machines.Definition[valveFacts, valveData, valveEffect]{
		Name: "valve", Doc: "turns a valve",
		States: []machines.State[valveFacts, valveData, valveEffect]{
			{State: states.State{Name: "Settled", Kind: states.Rest, Doc: "the valve is in position"}},
			{
				State:     states.State{Name: "Turning", Kind: states.Work, Doc: "the valve turns", Deadline: time.Minute},
				Invariant: transitions.Always[valveFacts, valveData](), OnTargetChange: "Turning",
				Action: &machines.Action[valveFacts, valveData, valveEffect]{
					Name: "turn", Doc: "turns the valve",
					Effects: func(f *valveFacts, _ valveData) []valveEffect {
						return []valveEffect{valveEffect("turn to " + f.Wanted)}
					},
				},
			},
		},
		Transitions: []machines.Transition[valveFacts, valveData]{
			{
				Event: "position-changed", From: "Settled", To: "Turning", NewAttempt: true,
				When: transitions.Not(inPosition, "another position"), Doc: "another position is wanted",
			},
			{Event: "turned", From: "Turning", To: "Settled", When: inPosition, Awaited: true, Doc: "the valve is in position"},
		},
		Target: func(f *valveFacts) machines.Target { return machines.Target{To: f.Wanted} },
		Infer: machines.Inference[valveFacts, valveData]{
			States: []string{"Settled"},
			Find: func(*valveFacts) (machines.InferredState[valveData], transitions.Verdict) {
				return machines.InferredState[valveData]{State: "Settled"}, transitions.Allow()
			},
		},
	}
}

// A definition is validated as a whole. The compiled machine is also plain data, from which its drawings are made.
func ExampleCompile() {
	machine, err := machines.Compile(valve())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, edge := range machine.Graph().Edges {
		if edge.Class == machines.Declared {
			fmt.Printf("%s -%s-> %s\n", edge.From, edge.Event, edge.To)
		}
	}
	// Output:
	// Settled -position-changed-> Turning
	// Turning -turned-> Settled
}

// Compile reports all structural defects together. Each one names its place and its remedy.
func ExampleCompile_findings() {
	definition := valve()
	definition.Transitions[1].To = "Setled"
	definition.States[1].OnTargetChange = ""
	_, err := machines.Compile(definition)
	fmt.Println(errors.Is(err, machines.ErrUndeclaredState), errors.Is(err, machines.ErrMissingOnTargetChange))
	// Output:
	// true true
}

// A machine is bound to a kind of object: its facts are taken from the snapshot that the kind observes.
func ExampleBind() {
	machine, err := machines.Compile(valve())
	if err != nil {
		fmt.Println(err)
		return
	}
	type (
		object   struct{ Wanted string }
		snapshot struct{ Position string }
	)
	lifecycle := machines.Bind(machine, machines.Binding[object, snapshot, valveFacts, valveEffect, valveEffect]{
		Name: "valve",
		Facts: func(o object, s snapshot, _ machines.ObserveOptions) valveFacts {
			return valveFacts{o.Wanted, s.Position}
		},
	})
	// runtime.Kind.Lifecycles takes it.
	fmt.Println(lifecycle.Name(), "with", len(lifecycle.Graph().States), "states")
	// Output: valve with 3 states
}
