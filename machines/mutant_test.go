package machines

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/transitions"
)

func TestDefinitionIsACopy(t *testing.T) {
	m := mustCompile(t, toy())
	def := m.Definition()
	if got := len(def.States); got != len(toy().States) {
		t.Errorf("%d states, want those declared", got)
	}
	def.States[restarting].Action.Precondition = toyGuard{}
	def.States[soaking].OnTargetChange = KeepAttempt
	def.Transitions[nodeSelected].Choose.Pick = nil
	def.Transitions[raisedRow].To = "Checking"
	def.Migrations["Verifying"] = "Settled"
	def.Infer.States[0] = "Soaking"
	def.Needs[0].Name = "other"
	again := m.Definition()
	if again.States[restarting].Action.Precondition.IsZero() || again.States[soaking].OnTargetChange == KeepAttempt || again.Transitions[nodeSelected].Choose.Pick == nil ||
		again.Transitions[raisedRow].To != "Settled" || again.Migrations["Verifying"] != "Checking" || again.Infer.States[0] != "Settled" || again.Needs[0].Name != "sync" {
		t.Errorf("changing the copy changed the machine: %+v", again)
	}
	if _, err := Compile(again); err != nil {
		t.Errorf("the copy does not compile: %v", err)
	}
}

func TestMutantIsUncheckedAndLeavesTheMachineAlone(t *testing.T) {
	m := mustCompile(t, toy())
	mutant := m.Mutant(access.Key{}, func(d *toyDefinition) {
		d.Doc = "" // a structural defect
		d.Transitions[pathForbidden].When = transitions.Not(pathAllowed, "a forbidden path").Mutated(access.Key{}, 0, transitions.Answer.Not)
	})
	if got := evaluate(mutant, at("Checking", nil), half()).Decide().Move; got == nil || got.Event != "path-forbidden" {
		t.Errorf("the mutant decided %+v", got)
	}
	if got := evaluate(m, at("Checking", nil), half()).Decide().Move; got == nil || got.Event != "node-selected" {
		t.Errorf("the machine decided %+v", got)
	}
	if diff := cmp.Diff(m.Graph(), mutant.Graph()); diff != "" {
		t.Errorf("the mutant has a graph of its own:\n%s", diff)
	}
}
