package transitions_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/transitions"
)

func TestProblemVerdict(t *testing.T) {
	problem := transitions.Problemf("DiskMissing", "pod %s has no disk", "a-0")
	for name, c := range map[string]struct{ got, want transitions.Verdict }{
		"no problem":            {(*transitions.Problem)(nil).Verdict(), transitions.Allow()},
		"a problem":             {problem.Verdict(), transitions.Verdict{Answer: transitions.No, Observed: "pod a-0 has no disk", Reason: "DiskMissing"}},
		"a problem that blinds": {problem.Unknown(), transitions.Verdict{Observed: "pod a-0 has no disk"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
