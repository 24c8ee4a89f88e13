package machinetest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/detent-dev/detent/machines/machinetest"
)

func TestFillBasin(t *testing.T) { machinetest.Run(t, compiled(t, nil), table()) }

// A table that fails is run in a process of its own, since it would fail this one.
const failing = "MACHINETEST_FAILING_TABLE"

func TestFailingTable(t *testing.T) {
	switch os.Getenv(failing) {
	case "rows":
		machinetest.Run(t, compiled(t, nil), also("the first free pump is taken", func(r *row) { r.Want.Memo = nil }))
	case "coverage":
		machinetest.Run(t, compiled(t, nil), without("the pump is gone"))
	}
}

func TestRunFails(t *testing.T) {
	for name, want := range map[string][]string{
		"rows": {
			"--- FAIL: TestFailingTable/the_first_free_pump_is_taken", "pumps wear evenly by their order in the list: in state Waiting (-want +got)",
			"transition coverage: fill-basin is judged once all rows hold",
		},
		"coverage": {"--- FAIL: TestFailingTable", "While of Pumping says no", "transition coverage: fill-basin 14/14 edges, 16/19 guard answers (90 %)"},
	} {
		t.Run(name, func(t *testing.T) {
			self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFailingTable$") //nolint:gosec // this very test binary
			self.Env = append(os.Environ(), failing+"="+name)
			out, err := self.CombinedOutput()
			if err == nil {
				t.Errorf("the test passed:\n%s", out)
			}
			for _, part := range want {
				if !strings.Contains(string(out), part) {
					t.Errorf("the output lacks %q:\n%s", part, out)
				}
			}
		})
	}
}
