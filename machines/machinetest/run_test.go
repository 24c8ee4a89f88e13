package machinetest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/detent-dev/detent/machines/machinetest"
)

// Tables run in a separate process, because a table that fails would fail this test as well.
const which = "MACHINETEST_TABLE"

func TestTable(t *testing.T) {
	switch os.Getenv(which) {
	case "good":
		machinetest.Run(t, compiled(t, nil), table())
	case "rows":
		machinetest.Run(t, compiled(t, nil), also("the first free pump is taken", func(r *row) { r.Want.Data = nil }))
	case "coverage":
		machinetest.Run(t, compiled(t, nil), without("the pump is gone"))
	}
}

func TestRun(t *testing.T) {
	for name, want := range map[string][]string{
		"good": {"\ntransition coverage: fill-basin 14/14 edges, 19/19 guard answers (100 %)\n", "--- PASS: TestTable/a_ban_refuses"},
		"rows": {
			"--- FAIL: TestTable/the_first_free_pump_is_taken", "pumps wear evenly by their order in the list: in state Waiting (-want +got)",
			"transition coverage: fill-basin is computed once all rows hold",
		},
		"coverage": {"--- FAIL: TestTable", "Invariant of Pumping says no", "transition coverage: fill-basin 14/14 edges, 16/19 guard answers (90 %)"},
	} {
		t.Run(name, func(t *testing.T) {
			self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTable$", "-test.v") //nolint:gosec // this very test binary
			self.Env = append(os.Environ(), which+"="+name)
			out, err := self.CombinedOutput()
			if (err == nil) != (name == "good") {
				t.Errorf("the test ended with %v:\n%s", err, out)
			}
			for _, part := range want {
				if !strings.Contains(string(out), part) {
					t.Errorf("the output lacks %q:\n%s", part, out)
				}
			}
		})
	}
}
