package planning

import (
	"fmt"
	"strings"
	"testing"

	"github.com/detent-dev/detent/internal/plan"
)

// TestPlanStallsWithoutAnOSD plans a gateway that has no OSD to start on: every lifecycle rests, and the resource never becomes Ready.
func TestPlanStallsWithoutAnOSD(t *testing.T) {
	text := fmt.Sprintf(manifest, pacific)
	for _, part := range []string{"  storage: {volumeClaims: [{count: 3, size: 10Gi}]}\n", "  filesystems: [{name: myfs, activeCount: 1, standbyCount: 1}]\n"} {
		if !strings.Contains(text, part) {
			t.Fatalf("%q is not in the manifest", part)
		}
		text = strings.Replace(text, part, "", 1)
	}
	p, _ := planned(t, parsed(t, text))
	if p.Result != plan.Stalls || p.ExitCode() != 2 {
		t.Errorf("the plan %s with exit code %d, want %s with 2", p.Result, p.ExitCode(), plan.Stalls)
	}
	got := p.Text(plan.TextOptions{Width: 200})
	for _, want := range []string{
		"STALLS: every lifecycle rests, and the resource does not become Ready",
		"Ready=False DaemonsNotServing: not serving: rgw.store.a (it waits for an OSD, and spec.storage declares none)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
