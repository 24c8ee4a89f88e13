package status

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/detent-dev/detent/transitions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// message returns the message of a problem; empty if there is none.
func message(problem *transitions.Problem) string {
	if problem == nil {
		return ""
	}
	return problem.Message
}
