package v1_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

func TestTransitionString(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 11, 20, 8, 31, 2, 0, time.UTC).Local())
	tests := map[string]struct {
		transition lifecyclev1.Transition
		want       string
	}{
		"a repeated transition of an attempt": {
			transition: lifecyclev1.Transition{At: at, Event: "node-selected", From: "Checking", To: "Restarting", Attempt: "5f2c91", Times: 6},
			want:       "2026-11-20T08:31:02Z node-selected: Checking -> Restarting, attempt 5f2c91, 6 times",
		},
		"the first entry, without an attempt": {
			transition: lifecyclev1.Transition{At: at, Event: "inferred", To: "Settled"},
			want:       "2026-11-20T08:31:02Z inferred: -> Settled",
		},
		"a state that another release or a person wrote": {
			transition: lifecyclev1.Transition{At: at, Event: "inferred", From: `no state: -> "x", attempt 3`, To: "Settled"},
			want:       `2026-11-20T08:31:02Z inferred: no state: -> "x", attempt 3 -> Settled`,
		},
		"text that JSON escapes": {
			transition: lifecyclev1.Transition{At: at, Event: "inferred", From: "\\u003e / \t\x7f\u2028 \U0001f600 é", To: "Settled"},
			want:       "2026-11-20T08:31:02Z inferred: \\u003e / \t\x7f\u2028 \U0001f600 é -> Settled",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.transition.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			text, err := json.Marshal(tc.transition)
			if err != nil {
				t.Fatal(err)
			}
			var got lifecyclev1.Transition
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.transition, got); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
		})
	}
}

// One unreadable entry would prevent the reading of every resource of the kind.
func TestTransitionUnmarshalJSONNeverFails(t *testing.T) {
	for _, text := range []string{`""`, `"x"`, `"\/\ud83d\ude00\ud83d"`, `"2026-11-20T08:31:02Z e"`, `"e: -> x, many times"`, `{}`, `{"at": 3, "event": "e"}`, `7`, `null`, `[]`} {
		var list []lifecyclev1.Transition
		if err := json.Unmarshal([]byte("["+text+"]"), &list); err != nil || len(list) != 1 {
			t.Errorf("%s gives %v, %v", text, list, err)
		}
	}
}

func TestHistoryUnmarshalJSON(t *testing.T) {
	line := func(from, to string) string { return "2026-11-20T08:31:02Z e: " + from + " -> " + to }
	one := func(from, to string) lifecyclev1.Transition {
		return lifecyclev1.Transition{At: metav1.NewTime(time.Date(2026, 11, 20, 8, 31, 2, 0, time.UTC).Local()), Event: "e", From: from, To: to}
	}
	tests := map[string]struct {
		text string
		want lifecyclev1.History
	}{
		"no transitions":         {`[]`, lifecyclev1.History{}},
		"nothing":                {`null`, lifecyclev1.History{}},
		"lines":                  {`["` + line("A", "B") + `", "` + line("B", "C") + `"]`, lifecyclev1.History{one("A", "B"), one("B", "C")}},
		"lines with escapes":     {"[\n\t\"" + line(`\"[A]\"`, `{B\\`) + "\"]", lifecyclev1.History{one(`"[A]"`, `{B\`)}},
		"objects of a release":   {`[{"event": "e", "from": "A"}, "` + line("A", "B") + `"]`, lifecyclev1.History{{}, one("A", "B")}},
		"something after a line": {`["` + line("A", "B") + `", 7]`, lifecyclev1.History{one("A", "B"), {}}},
		"no list":                {`{"event": "e"}`, lifecyclev1.History{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := struct{ History lifecyclev1.History }{lifecyclev1.History{one("of", "before")}}
			if err := json.Unmarshal([]byte(`{"history": `+tc.text+`}`), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.History); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// An attempt is written where it begins, since the API server and each watch handle the whole history at each status write.
func TestHistoryMarshalJSON(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 11, 20, 8, 31, 2, 0, time.UTC).Local())
	one := func(attempt string) lifecyclev1.Transition {
		return lifecyclev1.Transition{At: at, Event: "e", From: "A", To: "B", Attempt: attempt}
	}
	const line = "2026-11-20T08:31:02Z e: A -> B"
	tests := map[string]struct {
		history lifecyclev1.History
		want    []string
	}{
		"nothing":               {nil, nil},
		"no transitions":        {lifecyclev1.History{}, []string{}},
		"no attempt":            {lifecyclev1.History{one(""), one("")}, []string{line, line}},
		"one attempt":           {lifecyclev1.History{one("x"), one("x"), one("x")}, []string{line + ", attempt x", line, line}},
		"the next attempt":      {lifecyclev1.History{one(""), one("x"), one("y"), one("y")}, []string{line, line + ", attempt x", line + ", attempt y", line}},
		"none after an attempt": {lifecyclev1.History{one("x"), one(""), one("")}, []string{line + ", attempt x", line + ", attempt -", line}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(tc.history)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			if err := json.Unmarshal(text, &lines); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, lines); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
			var got lifecyclev1.History
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.history, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzTransition(f *testing.F) {
	f.Add("2026-11-20T08:31:02Z node-selected: Checking -> Restarting, attempt 5f2c91, 6 times")
	f.Add("0001-01-01T00:00:00Z : -> ")
	f.Fuzz(func(t *testing.T, line string) {
		read := func(line string) (got lifecyclev1.Transition) {
			text, err := json.Marshal(line)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			return got
		}
		var plain string
		text, err := json.Marshal(read(line))
		if err != nil || json.Unmarshal(text, &plain) != nil || plain != strings.ToValidUTF8(read(line).String(), "\ufffd") {
			t.Errorf("%q is written as %s, %v", read(line).String(), text, err)
		}
		first := read(line).String()
		if again := read(first).String(); again != first {
			t.Errorf("%q is read as %q, and that as %q", line, first, again)
		}
	})
}
