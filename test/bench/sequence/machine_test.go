package sequence

import (
	"testing"

	"github.com/detent-dev/detent/machines"
)

func TestOperator(t *testing.T) {
	kind, err := Operator().Kind()
	if err != nil {
		t.Fatal(err)
	}
	if states := kind.Lifecycles[0].Graph().States; len(states) != Steps+2 {
		t.Errorf("%d states, want one for each of %d steps, %s and %s", len(states), Steps, Done, machines.Inferring)
	}
}
