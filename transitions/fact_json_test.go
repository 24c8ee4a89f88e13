package transitions_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/transitions"
)

func TestFactJSONRoundTrip(t *testing.T) {
	at := time.Date(2026, 11, 20, 8, 0, 0, 5, time.FixedZone("elsewhere", 3600))
	cases := map[string]struct {
		fact transitions.Fact[[]int]
		text string
	}{
		"not asked":             {transitions.Fact[[]int]{}, `null`},
		"pending":               {transitions.Pending[[]int](), `{"pending":true}`},
		"unreadable":            {transitions.Unreadable[[]int](errors.New("refused")), `{"unreadable":"refused"}`},
		"unreadable since":      {transitions.UnreadableSince[[]int](errors.New("refused"), at), `{"unreadable":"refused","since":"2026-11-20T07:00:00.000000005Z"}`},
		"unreadable, no reason": {transitions.Unreadable[[]int](nil), `{"unreadable":"no reason was given"}`},
		"known":                 {transitions.Known([]int{1, 2}, at), `{"known":[1,2],"at":"2026-11-20T07:00:00.000000005Z"}`},
		"known to be none":      {transitions.Known[[]int](nil, time.Time{}), `{"known":null,"at":"0001-01-01T00:00:00Z"}`},
		"known to be empty":     {transitions.Known([]int{}, at.UTC()), `{"known":[],"at":"2026-11-20T07:00:00.000000005Z"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(struct{ F transitions.Fact[[]int] }{tc.fact})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(`{"F":`+tc.text+`}`, string(text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var back struct{ F transitions.Fact[[]int] }
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			if back.F.Asked() != tc.fact.Asked() || back.F.String() != tc.fact.String() || !back.F.At().Equal(tc.fact.At()) {
				t.Errorf("it came back as %s of %s, was %s of %s", back.F, back.F.At(), tc.fact, tc.fact.At())
			}
			if back.F.Gap() != tc.fact.Gap() {
				t.Errorf("its gap came back as %+v, was %+v", back.F.Gap(), tc.fact.Gap())
			}
		})
	}
}

func TestFactUnmarshalJSONRejectsOtherText(t *testing.T) {
	for _, text := range []string{`{}`, `7`, `{"known":"x","at":"2026-11-20T07:00:00Z"}`, `{"known":[1]}`} {
		var f transitions.Fact[[]int]
		if err := json.Unmarshal([]byte(text), &f); err == nil {
			t.Errorf("%s was read as %s", text, f)
		}
	}
}
