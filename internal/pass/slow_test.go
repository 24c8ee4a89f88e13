package pass_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/internal/pass"
)

func TestDecideConsultsSlowedForEveryMove(t *testing.T) {
	for name, c := range map[string]struct {
		world world
		given entries
		want  []string
	}{
		"it goes on":                    {world{"left": known(1, 2), "right": known(1, 1)}, entries{at("left", "Waiting", "2"), at("right", "Idle", "1")}, []string{"left false"}},
		"its target has changed":        {world{"left": known(1, 3), "right": known(1, 1)}, entries{at("left", "Filling", "2"), at("right", "Idle", "1")}, []string{"left true"}},
		"it begins another attempt":     {world{"left": known(1, 2), "right": known(1, 1)}, entries{at("left", "Idle", "1"), at("right", "Idle", "1")}, []string{"left true"}},
		"it is seen for the first time": {world{"left": known(1, 1), "right": known(1, 1)}, entries{at("right", "Idle", "1")}, []string{"left false"}},
	} {
		t.Run(name, func(t *testing.T) {
			in, _ := given(t, c.world, c.given...)
			var asked []string
			in.Slowed = func(lifecycle string, begins bool) bool {
				if one := fmt.Sprint(lifecycle, " ", begins); len(asked) == 0 || asked[len(asked)-1] != one {
					asked = append(asked, one)
				}
				return true
			}
			step, err := pass.Decide(in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if len(step.Moved) > 0 {
				t.Errorf("moved %q although every move must wait", words(step))
			}
		})
	}
}
