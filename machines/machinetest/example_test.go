package machinetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// lampFacts are what the machine of a lamp observes. All of it is in the cache, so that no field has a need.
type lampFacts struct{ Wanted, Lit bool }

// lampData is empty: no transition computes data.
type lampData = struct{}

// lampEffect is a request of the machine's action.
type lampEffect string

var asWanted = transitions.Guard[lampFacts, lampData]{
	Name: "as-wanted", Doc: "the lamp is as it should be", Expected: "the lamp as wanted",
	Evaluate: func(f *lampFacts, _ lampData) transitions.Verdict {
		return transitions.If(f.Lit == f.Wanted, "the other way")
	},
}

// lamp switches a lamp.
func lamp() *machines.Machine[lampFacts, lampData, lampEffect] {
	machine, err := machines.Compile(machines.Definition[lampFacts, lampData, lampEffect]{
		Name: "lamp", Doc: "switches a lamp on and off",
		States: []machines.State[lampFacts, lampData, lampEffect]{
			{State: states.State{Name: "Idle", Kind: states.Rest, Doc: "the lamp is as wanted"}},
			{
				State:     states.State{Name: "Switching", Kind: states.Work, Doc: "the switch is being pressed", Deadline: time.Minute, Poll: time.Second},
				Invariant: transitions.Always[lampFacts, lampData](), OnTargetChange: "Switching",
				Action: &machines.Action[lampFacts, lampData, lampEffect]{
					Name: "press", Doc: "presses the switch",
					Effects: func(*lampFacts, lampData) []lampEffect { return []lampEffect{"press"} },
				},
			},
		},
		Transitions: []machines.Transition[lampFacts, lampData]{
			{Event: "wanted", From: "Idle", To: "Switching", When: transitions.Not(asWanted, "the lamp to change"), NewAttempt: true, Doc: "the lamp should change"},
			{Event: "switched", From: "Switching", To: "Idle", When: asWanted, Awaited: true, Doc: "the lamp changed"},
		},
		Target: func(f *lampFacts) machines.Target { return machines.Target{To: fmt.Sprint(f.Wanted)} },
		Infer: machines.Inference[lampFacts, lampData]{
			States: []string{"Idle"},
			Find: func(*lampFacts) (machines.InferredState[lampData], transitions.Verdict) {
				return machines.InferredState[lampData]{State: "Idle"}, transitions.Allow()
			},
		},
	})
	if err != nil {
		panic(err)
	}
	return machine
}

// lampTable contains one row per case.
var lampTable = []machinetest.Row[lampFacts, lampData, lampEffect]{
	{Name: "all is well", State: "Idle", Facts: lampFacts{Wanted: true, Lit: true}},
	{
		Name: "light is wanted", State: "Idle", Facts: lampFacts{Wanted: true},
		Want: machinetest.Want[lampData, lampEffect]{Event: "wanted", To: "Switching"},
	},
	{
		Name: "the switch is pressed until there is light", Reason: "a press may get lost", State: "Switching", Facts: lampFacts{Wanted: true},
		Want: machinetest.Want[lampData, lampEffect]{WaitingFor: []string{"as-wanted"}, Effects: []lampEffect{"press"}},
	},
	{
		Name: "there is light", State: "Switching", Facts: lampFacts{Wanted: true, Lit: true},
		Want: machinetest.Want[lampData, lampEffect]{Event: "switched", To: "Idle"},
	},
	{
		Name: "darkness is wanted after all", State: "Switching", Attempt: "true", Facts: lampFacts{},
		Want: machinetest.Want[lampData, lampEffect]{Event: machines.EventTargetChanged, To: "Switching"},
	},
	{
		Name: "a lamp never seen before", Facts: lampFacts{Wanted: true},
		Want: machinetest.Want[lampData, lampEffect]{Event: machines.EventInferred, To: "Idle"},
	},
}

// The test of a machine is one line.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestLamp(t *testing.T)
		machinetest.Run(t, lamp(), lampTable)
	}
	// Output:
}

func ExampleExamine() {
	report := machinetest.Examine(lamp(), lampTable)
	fmt.Println(report)

	report = machinetest.Examine(lamp(), lampTable[1:])
	fmt.Println(report)
	fmt.Println(report.Problems[0])
	// Output:
	// transition coverage: lamp 4/4 edges, 2/2 guard answers (100 %)
	// transition coverage: lamp 3/4 edges, 2/2 guard answers (83 %)
	// guard as-wanted in wanted from Idle could always say no, and no row would notice: add a row in state Idle where wanted from Idle hangs on as-wanted alone; the facts of row "there is light" in state Idle would do, where staying follows: {Wanted:true Lit:true}
}
