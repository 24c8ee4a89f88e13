//test:norace
package kafka

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// specErrorOf returns why the spec cannot be applied, as the version change observes it.
func specErrorOf(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	return facts.Version(k, v, machines.ObserveOptions{}).SpecError
}

// message returns the message of a problem; empty if there is none.
func message(problem *transitions.Problem) string {
	if problem == nil {
		return ""
	}
	return problem.Message
}
