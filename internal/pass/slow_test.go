package pass_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/internal/pass"
)

func TestOnlyAnAttemptThatIsUnderWayIsSlowed(t *testing.T) {
	for name, c := range map[string]struct {
		world world
		given entries
		want  []string
	}{
		"it goes on":                    {world{"left": known(1, 2), "right": known(1, 1)}, entries{at("left", "Waiting", "2"), at("right", "Idle", "1")}, nil},
		"its target has changed":        {world{"left": known(1, 3), "right": known(1, 1)}, entries{at("left", "Filling", "2"), at("right", "Idle", "1")}, []string{"left: target-changed Filling -> Waiting"}},
		"it begins another attempt":     {world{"left": known(1, 2), "right": known(1, 1)}, entries{at("left", "Idle", "1"), at("right", "Idle", "1")}, []string{"left: wanted Idle -> Waiting"}},
		"it is seen for the first time": {world{"left": known(1, 1), "right": known(1, 1)}, entries{at("right", "Idle", "1")}, []string{"left: located  -> Idle"}},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := given(t, c.world, c.given...)
			in.Slowed = func(string) bool { return true }
			step, err := pass.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, words(step)); diff != "" {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
		})
	}
}
