package hello

import (
	"testing"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
)

// TestMachineTransitions is the complete specification of the machine: persisted state and facts in, transition out.
func TestMachineTransitions(t *testing.T) {
	type (
		row  = machinetest.Row[Facts, struct{}, Speak]
		want = machinetest.Want[struct{}, Speak]
	)
	machine := machinetest.Compile(t, Machine, Domain())
	spoken, unspoken := Facts{Wanted: "hello", Spoken: "hello"}, Facts{Wanted: "hello", Spoken: "good morning"}
	machinetest.Run(t, machine, append(machinetest.TargetChanged(machine, spoken), []row{
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
	}...))
}
