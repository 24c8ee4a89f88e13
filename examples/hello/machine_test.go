package hello

import (
	"testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/verification"
)

// TestDefinitionTransitions is the complete specification of the machine: persisted state and facts in, transition out.
func TestDefinitionTransitions(t *testing.T) {
	type (
		row  = machinetest.Row[facts, data, Speak]
		want = machinetest.Want[data, Speak]
	)
	machine, err := machines.Compile(Definition)
	if err != nil {
		t.Fatal(err)
	}
	spoken, unspoken := facts{Wanted: "hello", Spoken: "hello"}, facts{Wanted: "hello", Spoken: "good morning"}
	machinetest.Run(t, machine, []row{
		{Name: "a new greeting is looked at first", Facts: unspoken, Want: want{Event: machines.EventInferred, To: "Settled"}},
		{Name: "the text was spoken", State: "Settled", Facts: spoken},
		{
			Name: "another text is wanted", State: "Settled", Facts: unspoken,
			Want: want{Event: "text-changed", To: "Speaking", WaitingFor: []string{"spoken"}},
		},
		{
			Name: "the text is spoken", Reason: "a state acts in the passes after the one that entered it", State: "Speaking", Facts: unspoken,
			Want: want{WaitingFor: []string{"spoken"}, Effects: []Speak{{Text: "hello"}}},
		},
		{Name: "the text was heard", State: "Speaking", Facts: spoken, Want: want{Event: "heard", To: "Settled"}},
		{
			Name: "another text is wanted meanwhile", Reason: "it is another attempt, even if the text was heard by chance", State: "Speaking",
			Attempt: "good evening", Facts: spoken, Want: want{Event: machines.EventTargetChanged, To: "Speaking"},
		},
	})
}

// TestDefinition verifies the machine as a whole, over all relevant facts.
func TestDefinition(t *testing.T) {
	machine, err := machines.Compile(Definition)
	if err != nil {
		t.Fatal(err)
	}
	machinetest.Verify(t, machine, verification.Domain[facts, data]{
		Base: func() facts { return facts{Wanted: "hello", Spoken: "hello"} },
		Dimensions: []verification.Dimension[facts]{verification.Of(
			verification.Value[facts]{Name: "spoken"},
			verification.Value[facts]{Name: "another text wanted", Set: func(f *facts) { f.Wanted = "good day" }},
		)},
	})
}
