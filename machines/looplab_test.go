package machines

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/looplab/fsm"
)

// Each test first shows the property of the library, so that a release that changes it is noticed, and then that the adapter is
// not affected.

func TestLegalityIsNotBlockedByACancelledContext(t *testing.T) {
	rows := fsm.Events{{Name: "go", Src: []string{"A"}, Dst: "B"}}
	raw := fsm.NewFSM("A", rows, nil)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := raw.Event(cancelled, "go"); err == nil {
		t.Fatal("the library takes an event with a cancelled context")
	}
	wedged := fsm.InTransitionError{}
	if err := raw.Event(t.Context(), "go"); !errors.As(err, &wedged) {
		t.Fatalf("the library is not wedged any more: %v", err)
	}
	// The adapter takes no context and a fresh instance for each transition: neither the shutdown of the process nor an earlier
	// failure affects it.
	l := newLegality(mustCompile(t, toy()).graph)
	for range 3 {
		if err := l.fire("Settled", "raised", "Settled"); err == nil {
			t.Fatal("an illegal event was taken")
		}
		if err := l.fire("Settled", "version-changed", "Checking"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLegalityTakesNoNameForACallback(t *testing.T) {
	called := false
	raw := fsm.NewFSM("A", fsm.Events{{Name: "go", Src: []string{"A"}, Dst: "B"}}, fsm.Callbacks{"before_event": func(context.Context, *fsm.Event) { called = true }})
	if err := raw.Event(t.Context(), "go"); err != nil || !called {
		t.Fatalf("the library does not call by name any more: %v", err)
	}
	for _, name := range []string{"before_event", "leave_state", "enter_Checking", "after_raised"} {
		def := toy()
		def.Transitions[raisedRow].Event = name
		if _, err := Compile(def); !errors.Is(err, ErrName) {
			t.Errorf("event %s: %v", name, err)
		}
		def = toy()
		def.States[refused].Name = name
		if _, err := Compile(def); !errors.Is(err, ErrName) {
			t.Errorf("state %s: %v", name, err)
		}
	}
}

// A library instance is locked while callbacks run, so that a call from a callback blocks for ever. The adapter has no
// callbacks and shares no instance: transitions of one machine may be taken concurrently.
func TestLegalityIsSafeForConcurrentUse(t *testing.T) {
	l := newLegality(mustCompile(t, toy()).graph)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				for _, err := range []error{
					l.fire("Checking", "node-selected", "Restarting"), l.fire("", EventInferred, "Settled"), l.fire("Dancing", EventInferred, Inferring),
				} {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
}

func TestCompileRejectsTwoRowsForOneEvent(t *testing.T) {
	raw := fsm.NewFSM("A", fsm.Events{{Name: "go", Src: []string{"A"}, Dst: "B"}, {Name: "go", Src: []string{"A"}, Dst: "C"}}, nil)
	if err := raw.Event(t.Context(), "go"); err != nil || raw.Current() != "C" {
		t.Fatalf("of two rows the library takes %s (%v), not silently the last", raw.Current(), err)
	}
	def := toy()
	def.Transitions[allDone].Event = def.Transitions[nodeSelected].Event
	if _, err := Compile(def); !errors.Is(err, ErrDuplicateEdge) {
		t.Errorf("err = %v", err)
	}
}

func TestCompileRejectsNamesThatBreakDrawings(t *testing.T) {
	raw := fsm.NewFSM(`a "quoted" state`, fsm.Events{{Name: `say "go"`, Src: []string{`a "quoted" state`}, Dst: "B"}}, nil)
	if drawn := fsm.Visualize(raw); strings.Contains(drawn, `\"`) {
		t.Fatalf("the library escapes by now:\n%s", drawn)
	}
	for _, name := range []string{`Say"So`, "Not Now", "Über", "A;B", ""} {
		def := toy()
		def.States[refused].Name = name
		if _, err := Compile(def); !errors.Is(err, ErrName) {
			t.Errorf("state %q: %v", name, err)
		}
		def = toy()
		def.Transitions[raisedRow].Event = strings.ToLower(name)
		if _, err := Compile(def); !errors.Is(err, ErrName) {
			t.Errorf("event %q: %v", name, err)
		}
	}
}

func TestLegalityAcceptsASelfTransition(t *testing.T) {
	raw := fsm.NewFSM("A", fsm.Events{{Name: "again", Src: []string{"A"}, Dst: "A"}}, nil)
	noMove := fsm.NoTransitionError{}
	if err := raw.Event(t.Context(), "again"); !errors.As(err, &noMove) {
		t.Fatalf("the library reports a self transition as %v", err)
	}
	def := toy()
	def.Transitions = append(def.Transitions, toyRow{Event: "again", From: "Checking", To: "Checking", When: inSync, Doc: "looks again"})
	l := newLegality(mustCompile(t, def).graph)
	for event, state := range map[string]string{"again": "Checking", EventInferred: "Settled", EventTargetChanged: "Checking"} {
		if err := l.fire(state, event, state); err != nil {
			t.Error(err)
		}
	}
}

func TestLegalityOnlyInfersFromAnUnknownState(t *testing.T) {
	raw := fsm.NewFSM("Dancing", fsm.Events{{Name: "go", Src: []string{"A"}, Dst: "B"}}, nil)
	if raw.Current() != "Dancing" {
		t.Fatal("the library refuses an unknown state by now")
	}
	l := newLegality(mustCompile(t, toy()).graph)
	if err := l.fire("Dancing", "raised", "Settled"); err == nil {
		t.Error("a declared event was taken from a state that nobody declared")
	}
	if err := l.fire("Dancing", EventInferred, "Checking"); err != nil {
		t.Error(err)
	}
	if err := l.fire("Verifying", EventMigrated, "Checking"); err != nil {
		t.Error(err)
	}
	if err := l.fire("Dancing", EventMigrated, "Checking"); err == nil {
		t.Error("a state without a migration was migrated")
	}
}

// A state of an earlier release that is migrated is left like an unknown one, too: the object may be deleted before it is migrated.
func TestLegalityLeavesAMigratedState(t *testing.T) {
	l := newLegality(mustCompile(t, withDeletion()).graph)
	for event, to := range map[string]string{EventMigrated: "Checking", EventInferred: "Settled", EventDeletionRequested: "Lowering"} {
		if err := l.fire("Verifying", event, to); err != nil {
			t.Error(err)
		}
	}
	if err := l.fire("Verifying", "raised", "Settled"); err == nil {
		t.Error("a declared event was taken from a state of an earlier release")
	}
}
