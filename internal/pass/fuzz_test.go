package pass_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
)

// A status may have been written by an older or newer release or another program, and may be incomplete. Decide never panics on
// it, is deterministic, makes only transitions of the graph, modifies nothing of its input, and lets no action run in a state that
// the machine does not declare.
func FuzzDecide(f *testing.F) {
	for _, given := range []entries{
		nil, {at("left", "Idle", "1"), at("right", "Filling", "2")}, {at("left", "Nowhere", "1"), at("left", "Idle", "1"), at("middle", "Idle", "1")},
	} {
		text, err := json.Marshal(lifecyclev1.Status{Lifecycles: given})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, byte(1), byte(2), byte(0xff), "left")
	}
	f.Add([]byte(`{"observedGeneration": -7, "lifecycles": [{"name": "left", "state": "Filling", "edges": -5, "enteredAt": null,
		"attempt": {"id": "", "startedAt": "9999-12-31T23:59:59Z"}, "data": {"": "x"}, "progress": {"done": 5, "total": -1},
		"history": [{"at": null, "event": "", "from": "x", "to": "y", "attempt": "z", "times": -2147483648}], "deadline": "0001-01-01T00:00:00Z"}]}`),
		byte(0), byte(0), byte(0), "")
	f.Fuzz(func(t *testing.T, text []byte, have, want, readable byte, last string) {
		var status lifecyclev1.Status
		if json.Unmarshal(text, &status) != nil {
			return // no status
		}
		w := world{"left": fuzzed(have, want, readable), "right": fuzzed(want, have, readable>>4)}
		in, _ := given(t, w)
		in.Status, in.Last = &status, last
		before := status.DeepCopy()
		step, err := pass.Decide(in)
		if err != nil {
			t.Fatalf("deciding: %v", err)
		}
		checkStep(t, in, &step)
		again, err := pass.Decide(in)
		if diff := cmp.Diff(step.Moved, again.Moved, cmpopts.IgnoreFields(pass.Moved{}, "Facts")); err != nil || diff != "" {
			t.Fatalf("decided twice (-first +second): %v\n%s", err, diff)
		}
		for i := range step.Results {
			s := &step.Results[i]
			s.Project()
			if _, wants := pass.Wants(in, s); !wants {
				continue
			}
			if _, known := in.Lifecycles[i].State(s.Entry.State); !known {
				t.Fatalf("acts in state %q, which the machine does not have", s.Entry.State)
			}
			if _, _, err := pass.Act(in, &step, s); err != nil {
				t.Fatalf("acting: %v", err)
			}
		}
		if diff := cmp.Diff(before, &status); diff != "" {
			t.Fatalf("the status was changed (-before +after):\n%s", diff)
		}
	})
}

// checkStep holds what is true of every step.
func checkStep(t *testing.T, in input, step *pass.Step[string, world, string]) {
	t.Helper()
	if len(step.Errs) > 0 {
		t.Fatalf("a defect: %v", step.Errs)
	}
	if step.Decided && len(step.Moved) > 0 && slices.ContainsFunc(step.Moved, func(m pass.Moved) bool { return m.Move.To == "" }) {
		t.Fatalf("decided, and moves to nowhere: %+v", step.Moved)
	}
	for _, moved := range step.Moved {
		for _, lc := range in.Lifecycles {
			if _, declared := lc.State(moved.Entry.State); lc.Name() == moved.Lifecycle && (!declared || moved.Entry.State != moved.Move.To) {
				t.Fatalf("lifecycle %s enters %q by a move to %q", moved.Lifecycle, moved.Entry.State, moved.Move.To)
			}
		}
	}
}

// fuzzed is a tank of which each bit says whether a fact is readable.
func fuzzed(have, want, readable byte) tank {
	one := known(int(have%4), int(want%4))
	if readable&1 == 0 {
		one.Permit = unread
	}
	if readable&2 == 0 {
		one.Queue = pending
	}
	if readable&4 == 0 {
		one.Level = unread
	}
	one.Intact = readable&8 != 0
	return one
}
