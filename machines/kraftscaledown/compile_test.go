package kraftscaledown_test

import (
	"testing"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

func compiled(t *testing.T) *machines.Machine[kraftscaledown.Facts, roll.Data, kraftscaledown.Effect] {
	t.Helper()
	return machinetest.Compiled(t, kraftscaledown.Definition())
}

func TestDefinitionCompiles(t *testing.T) { compiled(t) }

func TestDefinitionVerifies(t *testing.T) {
	machinetest.Verify(t, compiled(t), kraftscaledown.Domain(), kraftscaledown.DrainDomain())
}

func TestFactsSurviveAJournal(t *testing.T) {
	machinetest.SurviveJournal(t, kraftscaledown.Definition(), []roll.Data{roll.NoNode(), {Node: 4}}, nil, kraftscaledown.Domain(), kraftscaledown.DrainDomain())
}

// The evidence about a broker that waits to be empty is still known when it is checked again.
func TestEvidenceOutlivesThePoll(t *testing.T) {
	definition := kraftscaledown.Definition()
	ages := map[transitions.Need]time.Duration{}
	for _, need := range definition.Needs {
		ages[need.Name] = need.MaxAge
	}
	for _, s := range definition.States {
		if s.Name != kraftscaledown.AwaitingEmpty {
			continue
		}
		for _, need := range []transitions.Need{roll.NeedPartitions, kraftscaledown.NeedLogDirs} {
			if ages[need] <= s.Poll {
				t.Errorf("%s is unknown after %s, and %s is polled after %s", need, ages[need], s.Name, s.Poll)
			}
		}
	}
}
