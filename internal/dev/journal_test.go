package dev

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

var start = time.Date(2026, 11, 20, 8, 31, 2, 0, time.UTC)

func at(seconds int) metav1.Time {
	return metav1.NewTime(start.Add(time.Duration(seconds) * time.Second))
}

// entry is a lifecycle after so many transitions.
func entry(state string, second, transitions int, change func(*lifecyclev1.Lifecycle)) lifecyclev1.Lifecycle {
	deadline := at(second + 600)
	e := lifecyclev1.Lifecycle{
		Name: "version", State: state, EnteredAt: at(second), Deadline: &deadline,
		Attempt: &lifecyclev1.Attempt{ID: "a1", From: "4.1.1", To: "4.3.1", StartedAt: at(0)},
	}
	e.Transitions = int32(transitions)
	for range transitions {
		e.History = append(e.History, lifecyclev1.Transition{At: at(second), Event: "e", To: state})
	}
	if change != nil {
		change(&e)
	}
	return e
}

func printed(j *journal, entries ...lifecyclev1.Lifecycle) []string {
	var out []string
	for _, e := range entries {
		for _, lines := range j.entries("orders", "u1", &lifecyclev1.Status{Lifecycles: []lifecyclev1.Lifecycle{e}}) {
			out = append(out, lines...)
		}
	}
	return out
}

func TestJournal(t *testing.T) {
	progress := func(done int32, current string) func(*lifecyclev1.Lifecycle) {
		return func(e *lifecyclev1.Lifecycle) {
			e.Progress = &lifecyclev1.Progress{Done: done, Total: 6, Unit: "node", Current: current}
		}
	}
	rest := func(e *lifecyclev1.Lifecycle) {
		e.Deadline = nil
		progress(6, "")(e)
	}
	hold := func(saw string) func(*lifecyclev1.Lifecycle) {
		return func(e *lifecyclev1.Lifecycle) {
			e.Deadline = nil
			e.WaitingFor = []lifecyclev1.WaitingFor{{Guard: "path-allowed", Expected: "a path", Observed: saw}}
		}
	}
	again := func(id string) func(*lifecyclev1.Lifecycle) {
		return func(e *lifecyclev1.Lifecycle) { e.Attempt.ID, e.Attempt.From = id, "4.3.1"; e.Attempt.To = "4.1.1" }
	}
	tests := map[string]struct {
		given []lifecyclev1.Lifecycle
		want  []string
	}{
		"an upgrade": {
			given: []lifecyclev1.Lifecycle{
				entry("Checking", 0, 2, nil), entry("RestartingNode", 0, 3, progress(0, "orders-brokers-4")), entry("Settled", 93, 4, rest),
			},
			want: []string{
				"orders   version  Checking               4.1.1 to 4.3.1",
				"orders   version  RestartingNode   0/6   orders-brokers-4",
				"orders   version  Settled          6/6   after 1m33s",
			},
		},
		"other writes say nothing": {
			given: []lifecyclev1.Lifecycle{entry("Checking", 0, 2, nil), entry("Checking", 0, 2, progress(1, "orders-brokers-4"))},
			want:  []string{"orders   version  Checking               4.1.1 to 4.3.1"},
		},
		"a state that is entered twice within a second is printed twice": {
			given: []lifecyclev1.Lifecycle{entry("Checking", 0, 2, nil), entry("Checking", 0, 3, nil)},
			want: []string{
				"orders   version  Checking               4.1.1 to 4.3.1",
				"orders   version  Checking",
			},
		},
		"a loop that is folded is printed each time": {
			given: []lifecyclev1.Lifecycle{
				entry("SelectingNode", 0, 2, nil),
				entry("SelectingNode", 0, 2, func(e *lifecyclev1.Lifecycle) { e.Transitions++ }),
			},
			want: []string{
				"orders   version  SelectingNode          4.1.1 to 4.3.1",
				"orders   version  SelectingNode",
			},
		},
		"another attempt says where it goes": {
			given: []lifecyclev1.Lifecycle{entry("Checking", 0, 2, nil), entry("Checking", 9, 3, again("a2"))},
			want: []string{
				"orders   version  Checking               4.1.1 to 4.3.1",
				"orders   version  Checking               4.3.1 to 4.1.1",
			},
		},
		"an install comes from nowhere": {
			given: []lifecyclev1.Lifecycle{entry("Checking", 0, 2, func(e *lifecyclev1.Lifecycle) { e.Attempt.From = "" })},
			want:  []string{"orders   version  Checking               4.3.1"},
		},
		"where something stands before anything happened is no news": {
			given: []lifecyclev1.Lifecycle{entry("Settled", 0, 1, func(e *lifecyclev1.Lifecycle) { e.Attempt = nil })},
		},
		"a short refusal stands beside its state": {
			given: []lifecyclev1.Lifecycle{entry("Checking", 0, 2, nil), entry("Refused", 1, 3, func(e *lifecyclev1.Lifecycle) {
				hold("no")(e)
				e.WaitingFor[0].Expected = ""
			})},
			want: []string{
				"orders   version  Checking               4.1.1 to 4.3.1",
				"orders   version  Refused                path-allowed: no",
			},
		},
		"a long one below it": {
			given: []lifecyclev1.Lifecycle{entry("Checking", 0, 2, nil), entry("Refused", 1, 3, hold("metadata.version is finalized at 4.3-IV0 and cannot be lowered"))},
			want: []string{
				"orders   version  Checking               4.1.1 to 4.3.1",
				"orders   version  Refused",
				"  path-allowed: metadata.version is finalized at 4.3-IV0 and cannot be",
				"  lowered (expected: a path)",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, printed(newJournal(70), tc.given...)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJournalSeparatesObjects(t *testing.T) {
	j := newJournal(70)
	status := &lifecyclev1.Status{Lifecycles: []lifecyclev1.Lifecycle{entry("Checking", 0, 2, nil)}}
	if len(j.entries("orders", "u1", status)) != 1 || len(j.entries("orders", "u2", status)) != 1 {
		t.Error("an object of the same name that was created again is not printed")
	}
}

func TestJournalTruncatesLongEntries(t *testing.T) {
	got := printed(newJournal(70), entry("Refused", 0, 2, func(e *lifecyclev1.Lifecycle) {
		e.Deadline = nil
		e.WaitingFor = []lifecyclev1.WaitingFor{{Guard: "g", Observed: strings.Repeat("many words ", 200)}}
	}))
	if len(got) != maxLines || got[maxLines-1] != "  ... kubectl describe shows the rest" {
		t.Errorf("%d lines, the last is %q", len(got), got[len(got)-1])
	}
	for _, line := range got {
		if utf8.RuneCountInString(line) > 70 {
			t.Errorf("a line of %d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
}

func TestCut(t *testing.T) {
	tests := map[string]struct {
		line  string
		width int
		ascii bool
		want  string
	}{
		"fits":                {line: "abcde", width: 5, want: "abcde"},
		"does not":            {line: "abcdef", width: 5, want: "abcd…"},
		"without an ellipsis": {line: "abcdef", width: 5, ascii: true, want: "ab..."},
		"characters count":    {line: "äöüäö", width: 5, want: "äöüäö"},
		"next to nothing":     {line: "abcdef", width: 1, ascii: true, want: "..."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := cut(tc.line, tc.width, tc.ascii); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
