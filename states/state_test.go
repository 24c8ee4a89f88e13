package states_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/detent-dev/detent/states"
)

func TestBackoffAfter(t *testing.T) {
	cases := map[string]struct {
		backoff  states.Backoff
		failures int
		want     time.Duration
	}{
		"the first failure pauses for the least":    {failures: 1, want: time.Second},
		"no failure yet is treated as the first":    {failures: 0, want: time.Second},
		"the second failure doubles":                {failures: 2, want: 2 * time.Second},
		"the ninth is the last below the most":      {failures: 9, want: 256 * time.Second},
		"the tenth reaches the most":                {failures: 10, want: 5 * time.Minute},
		"many failures stay at the most":            {failures: 1 << 20, want: 5 * time.Minute},
		"own bounds replace the defaults":           {backoff: states.Backoff{Min: 3 * time.Second, Max: 10 * time.Second}, failures: 2, want: 6 * time.Second},
		"own most cuts the doubling":                {backoff: states.Backoff{Min: 3 * time.Second, Max: 10 * time.Second}, failures: 3, want: 10 * time.Second},
		"a long least needs no most":                {backoff: states.Backoff{Min: time.Hour}, failures: 1, want: time.Hour},
		"a long least is the most":                  {backoff: states.Backoff{Min: time.Hour}, failures: 9, want: time.Hour},
		"a least above the most is cut to the most": {backoff: states.Backoff{Min: time.Hour, Max: time.Minute}, failures: 1, want: time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.backoff.After(tc.failures)); diff != "" {
				t.Errorf("pause after %d failures (-want +got):\n%s", tc.failures, diff)
			}
		})
	}
}

func TestBackoffAfterNeverShrinksAndStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "min"))
		most := least + time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "spread"))
		failures := rapid.IntRange(1, 100).Draw(t, "failures")
		b := states.Backoff{Min: least, Max: most}
		pause, next := b.After(failures), b.After(failures+1)
		if pause < least || pause > most {
			t.Fatalf("%v after %d failures is outside %v to %v", pause, failures, least, most)
		}
		if next < pause {
			t.Fatalf("%v after %d failures, but %v after one more", pause, failures, next)
		}
	})
}

func TestStateResting(t *testing.T) {
	for kind, want := range map[states.Kind]bool{states.Rest: true, states.Hold: true, states.Work: false, states.Wait: false} {
		if got := (states.State{Kind: kind}).Resting(); got != want {
			t.Errorf("%s: resting is %v, want %v", kind, got, want)
		}
	}
}
