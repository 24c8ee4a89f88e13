package pass_test

import (
	"fmt"
	"slices"
	"testing"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
)

func TestEntriesFind(t *testing.T) {
	for _, n := range []int{0, 1, 16, 17, 500} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			status := &lifecyclev1.Status{}
			for i := range n {
				status.Lifecycles = append(status.Lifecycles, lifecyclev1.Lifecycle{Name: fmt.Sprintf("card/%d", i)})
			}
			first := slices.Clone(status.Lifecycles)
			if n > 0 {
				status.Lifecycles = append(status.Lifecycles, status.Lifecycles[0]) // a repeated name: the first one counts
			}
			all := pass.EntriesOf(status)
			for i := range first {
				if e := &status.Lifecycles[i]; all.Find(e.Name) != e {
					t.Errorf("%s was not found", e.Name)
				}
			}
			if all.Find("card") != nil {
				t.Error("an entry that does not exist was found")
			}
		})
	}
}

// A kind without instances pays nothing for the index.
func TestEntriesOfFewDoesNotAllocate(t *testing.T) {
	status := &lifecyclev1.Status{Lifecycles: []lifecyclev1.Lifecycle{{Name: "version"}, {Name: "roll"}, {Name: "storage"}}}
	if n := testing.AllocsPerRun(100, func() { pass.EntriesOf(status).Find("storage") }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
