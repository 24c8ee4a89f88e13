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
	// valveMemo is empty: no transition computes data.
	valveMemo = struct{}
	// valveEffect is what an action requests, as data.
	valveEffect string
)

var inPosition = transitions.Guard[valveFacts, valveMemo]{
	Name: "in-position", Doc: "the valve is in the wanted position", Want: "the wanted position",
	Ask: func(f *valveFacts, _ valveMemo) transitions.Verdict {
		return transitions.If(f.Position == f.Wanted, f.Position)
	},
}

// valve turns a valve: Settled -> Turning -> Settled.
func valve() machines.Definition[valveFacts, valveMemo, valveEffect] {
	return machines.Definition[valveFacts, valveMemo, valveEffect]{
		Name: "valve", Doc: "turns a valve",
		States: []machines.State[valveFacts, valveMemo, valveEffect]{
			{State: states.State{Name: "Settled", Kind: states.Rest, Doc: "the valve is in position"}},
			{
				State: states.State{Name: "Turning", Kind: states.Work, Doc: "the valve turns", Deadline: time.Minute},
				While: transitions.Always[valveFacts, valveMemo](), OnTarget: "Turning",
				Do: &machines.Action[valveFacts, valveMemo, valveEffect]{
					Name: "turn", Doc: "turns the valve",
					Do: func(f *valveFacts, _ valveMemo) []valveEffect {
						return []valveEffect{valveEffect("turn to " + f.Wanted)}
					},
				},
			},
		},
		Transitions: []machines.Transition[valveFacts, valveMemo]{
			{
				Event: "position-changed", From: "Settled", To: "Turning", NewAttempt: true,
				When: transitions.Not(inPosition, "another position"), Doc: "another position is wanted",
			},
			{Event: "turned", From: "Turning", To: "Settled", When: inPosition, Awaited: true, Doc: "the valve is in position"},
		},
		Target: machines.Target[valveFacts]{Of: func(f *valveFacts) machines.Aim { return machines.Aim{To: f.Wanted} }},
		Locate: machines.Locator[valveFacts, valveMemo]{
			States: []string{"Settled"},
			Find: func(*valveFacts) (machines.Place[valveMemo], transitions.Verdict) {
				return machines.Place[valveMemo]{State: "Settled"}, transitions.Allow()
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
	definition.States[1].OnTarget = ""
	_, err := machines.Compile(definition)
	fmt.Println(errors.Is(err, machines.ErrUndeclaredState), errors.Is(err, machines.ErrMissingOnTarget))
	// Output:
	// true true
}

// A machine is bound to a kind of object. Its evaluation is pure: it needs no client and no clock.
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
		Name:    "valve",
		Observe: func(o object, s snapshot, _ machines.Ask) valveFacts { return valveFacts{o.Wanted, s.Position} },
		Effect:  func(e valveEffect) valveEffect { return e },
	})
	question := machines.Question[object, snapshot]{
		Object: object{"open"}, View: snapshot{"closed"}, UID: "uid", Ask: machines.Ask{Now: time.Unix(0, 0)},
	}
	for range 3 {
		look := lifecycle.Look(question)
		move := look.Decide().Move
		if move == nil {
			fmt.Println("stays in", question.Entry.State, "and requests", look.Act().Effects)
			return
		}
		entry, err := look.Enter(*move)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(move.Event, "to", entry.State)
		question.Entry = &entry
	}
	// Output:
	// located to Settled
	// position-changed to Turning
	// stays in Turning and requests [turn to open]
}
