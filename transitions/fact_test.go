package transitions_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/transitions"
)

func TestFact(t *testing.T) {
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	type seen struct {
		Value int
		Known bool
		Asked bool
		At    time.Time
		Gap   transitions.Verdict
		Text  string
	}
	cases := map[string]struct {
		fact transitions.Fact[int]
		want seen
	}{
		"a known fact gives its value and when it was observed": {
			fact: transitions.Known(17, at),
			want: seen{Value: 17, Known: true, Asked: true, At: at, Gap: transitions.Verdict{Observed: "not asked"}, Text: "17"},
		},
		"a known zero is known": {
			fact: transitions.Known(0, at),
			want: seen{Known: true, Asked: true, At: at, Gap: transitions.Verdict{Observed: "not asked"}, Text: "0"},
		},
		"an unreadable fact says why": {
			fact: transitions.Unreadable[int](errors.New("connection refused")),
			want: seen{Asked: true, Gap: transitions.Verdict{Observed: "cannot be read: connection refused"}, Text: "(unreadable: connection refused)"},
		},
		"an unreadable fact says since when": {
			fact: transitions.UnreadableSince[int](errors.New("connection refused"), time.Date(2026, 11, 20, 9, 30, 0, 5, time.FixedZone("elsewhere", 3600))),
			want: seen{Asked: true, Gap: transitions.Verdict{Observed: "cannot be read since 2026-11-20T08:30:00Z: connection refused"}, Text: "(unreadable: connection refused)"},
		},
		"an unreadable fact without a reason does not panic": {
			fact: transitions.Unreadable[int](nil),
			want: seen{Asked: true, Gap: transitions.Verdict{Observed: "cannot be read: no reason was given"}, Text: "(unreadable: no reason was given)"},
		},
		"a pending fact is unknown without being worth showing": {
			fact: transitions.Pending[int](),
			want: seen{Asked: true, Gap: transitions.Verdict{Observed: "not answered yet", Pending: true}, Text: "(pending)"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			value, known := tc.fact.Get()
			got := seen{Value: value, Known: known, Asked: tc.fact.Asked(), At: tc.fact.At(), Gap: tc.fact.Gap(), Text: tc.fact.String()}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFactGetPanicsWithItsTypeUnlessRequested(t *testing.T) {
	var fact transitions.Fact[map[string]int]
	if fact.Asked() || fact.String() != "(not asked)" {
		t.Errorf("the zero fact is %s and asked is %v", fact, fact.Asked())
	}
	defer func() {
		p := recover()
		var defect transitions.NotAsked
		err, isError := p.(error)
		if !isError || !errors.As(err, &defect) {
			t.Fatalf("panicked with %v (%T), want transitions.NotAsked", p, p)
		}
		if diff := cmp.Diff("map[string]int", defect.Type); diff != "" {
			t.Errorf("type (-want +got):\n%s", diff)
		}
	}()
	fact.Get()
	t.Fatal("reading did not panic")
}
