package runtime_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/transitions"
)

// TestReconcilerShowsAProblemAtOnce gives a lifecycle that waits another verdict in each second, and reads what its status shows then.
func TestReconcilerShowsAProblemAtOnce(t *testing.T) {
	starts := transitions.Deny("starts")
	pull := transitions.Problemf("ImagePullFailed", "cannot pull").Verdict()
	full := transitions.Problemf("Unschedulable", "no room").Verdict()
	otherPull := transitions.Problemf("ImagePullFailed", "cannot pull another one").Verdict()
	const written = "was just written"
	type step struct {
		// saw is the answer of the guard, after a pause of so long.
		after time.Duration
		saw   transitions.Verdict
		want  string
	}
	for name, steps := range map[string][]step{
		"a text without a problem is delayed":      {{0, starts, written}, {9 * time.Second, starts, written}, {2 * time.Second, starts, "starts"}},
		"a problem is shown":                       {{0, pull, "cannot pull"}},
		"another text of the problem is delayed":   {{0, pull, "cannot pull"}, {time.Second, otherPull, "cannot pull"}, {10 * time.Second, otherPull, "cannot pull another one"}},
		"a problem that is gone is delayed":        {{0, pull, "cannot pull"}, {time.Second, starts, "cannot pull"}, {10 * time.Second, starts, "starts"}},
		"a problem that returns is delayed":        {{0, pull, "cannot pull"}, {10 * time.Second, starts, "starts"}, {time.Second, pull, "starts"}, {10 * time.Second, pull, "cannot pull"}},
		"another problem is shown, once":           {{0, pull, "cannot pull"}, {time.Second, full, "no room"}, {time.Second, pull, "no room"}, {10 * time.Second, pull, "cannot pull"}},
		"a problem that is shown after its delay":  {{10 * time.Second, pull, "cannot pull"}, {10 * time.Second, starts, "starts"}, {time.Second, pull, "starts"}},
		"a problem after a transition is shown":    {{0, pull, "cannot pull"}, {time.Second, transitions.Allow(), ""}, {0, starts, ""}, {0, pull, "cannot pull"}},
		"a problem that a transition shows counts": {{0, transitions.Allow(), ""}, {0, pull, "cannot pull"}, {time.Second, starts, "cannot pull"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			saw := transitions.Deny("begins")
			r.kind.Lifecycles = append(slices.Clone(r.kind.Lifecycles), turning(t, &saw))
			r.restart()
			r.rest()
			r.advance(time.Minute)
			saw = transitions.Deny(written)
			r.pass()
			var want, got []string
			for _, s := range steps {
				r.advance(s.after)
				saw = s.saw
				r.pass()
				want, got = append(want, s.want), append(got, r.waitsFor("turning", "turned"))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("waits for (-want +got):\n%s", diff)
			}
		})
	}
}
