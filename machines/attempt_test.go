package machines

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// A user may request 2, then 1, then 2 again. Each is a separate attempt with its own approvals and progress.
func TestAttemptStartsWithEachChangeOfTarget(t *testing.T) {
	m := mustCompile(t, toy())
	lc := bind(m)
	entry := at("Checking", map[string]string{"node": "b"})
	ids := map[string]int{entry.Attempt.ID: 0}
	for i, target := range []string{"1", "2", "1", "2"} {
		later := now.Add(time.Duration(i+1) * time.Second)
		evaluation := lc.Evaluate(EvaluationInput[struct{}, toyFacts]{
			Snapshot: with(half(), func(f *toyFacts) { f.Wanted = target }), UID: toyUID, Entry: entry, Options: ObserveOptions{Needs: lc.NeedsIn("Checking"), Now: later},
		})
		decision := evaluation.Decide()
		if decision.Move == nil || decision.Move.Event != EventTargetChanged {
			t.Fatalf("target %s: decided %+v", target, decision)
		}
		next, err := evaluation.Enter(*decision.Move)
		if err != nil {
			t.Fatal(err)
		}
		if old, again := ids[next.Attempt.ID]; again {
			t.Errorf("change %d has the attempt of change %d", i+1, old)
		}
		if next.Attempt.To != target || next.Data != nil {
			t.Errorf("change %d: attempt %+v with data %v", i+1, next.Attempt, next.Data)
		}
		ids[next.Attempt.ID] = i + 1
		entry = &next
	}
}

func TestKeepAttemptKeepsDataAndAttempt(t *testing.T) {
	def := toy()
	def.States[restarting].OnTargetChange = KeepAttempt
	entry := under(at("Restarting", map[string]string{"node": "b"}), "1")
	got := evaluate(mustCompile(t, def), entry, half()).Decide()
	if got.Err != nil || got.Move != nil || !got.MayAct {
		t.Errorf("decided %+v, want to keep the attempt", got)
	}
}

func TestAttemptStartsAfterAWipedStatus(t *testing.T) {
	m := mustCompile(t, toy())
	old := at("Restarting", map[string]string{"node": "b"})
	got := evaluate(m, nil, half()).Decide()
	if got.Move == nil || got.Move.Attempt == nil || got.Move.Attempt.ID == old.Attempt.ID {
		t.Errorf("decided %+v, want an attempt other than %s", got.Move, old.Attempt.ID)
	}
}

func TestAttemptFitsTheStatusAndStaysTheSame(t *testing.T) {
	long := strings.Repeat("ü", 100)
	def := toy()
	def.Target = func(*toyFacts) Target { return Target{From: long, To: long} }
	m := mustCompile(t, def)
	move := evaluate(m, nil, half()).Decide().Move
	if len(move.Attempt.To) > 128 || len(move.Attempt.From) > 128 {
		t.Errorf("attempt %+v is longer than the status holds", move.Attempt)
	}
	entry := &lifecyclev1.Lifecycle{Name: "version", State: "Checking", Attempt: move.Attempt}
	if again := evaluate(m, entry, half()).Decide().Move; again != nil && again.Event == EventTargetChanged {
		t.Error("a target that was cut passes for another one")
	}
}

func TestAttemptIDsDifferInEveryPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringMatching(`[a-z0-9.]{0,6}`)
		uid, name, target := part.Draw(t, "uid"), part.Draw(t, "name"), part.Draw(t, "target")
		start := now.Add(time.Duration(rapid.IntRange(0, 1e6).Draw(t, "start")) * time.Second)
		id := AttemptID(uid, name, target, start)
		if id != AttemptID(uid, name, target, start) {
			t.Fatal("the same attempt has two ids")
		}
		if id == AttemptID(uid, name, target, start.Add(time.Second)) {
			t.Fatal("a later start has the same id")
		}
		if name != "" && id == AttemptID(uid+name[:1], name[1:], target, start) {
			t.Fatal("parts run into one another")
		}
	})
}

// TestNewAttemptInTheSameSecond: a status may be lost in the second in which its attempt started. The visits of the states of the next
// attempt are counted from the start, so that with the same id a command would count as sent.
func TestNewAttemptInTheSameSecond(t *testing.T) {
	target := Target{To: "2"}
	one, other := newAttempt(toyUID, "version", target, now), newAttempt(toyUID, "version", target, now.Add(20*time.Millisecond))
	if SameAttempt(one, other) || !one.StartedAt.Equal(&other.StartedAt) {
		t.Errorf("%+v and %+v", one, other)
	}
	for _, a := range []*lifecyclev1.Attempt{one, other} {
		if !pursues(a, toyUID, "version", "2") || len(a.ID) != 16 {
			t.Errorf("%+v does not pursue its target", a)
		}
	}
}

func TestRequestIDOfDistinguishesVisits(t *testing.T) {
	one := at("Restarting", nil)
	base := RequestIDOf(toyUID, "version", one)
	want := RequestID{UID: toyUID, Lifecycle: "version", Attempt: one.Attempt.ID, State: "Restarting", Sequence: base.Sequence}
	if diff := cmp.Diff(want, base); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(RequestID{UID: toyUID, Lifecycle: "version"}, RequestIDOf(toyUID, "version", nil)); diff != "" {
		t.Errorf("without an entry (-want +got):\n%s", diff)
	}
	for name, change := range map[string]func(*lifecyclev1.Lifecycle){
		"another attempt": func(e *lifecyclev1.Lifecycle) { e.Attempt = attemptAt("1") },
		"another state":   func(e *lifecyclev1.Lifecycle) { e.State = "Raising" },
		"another visit":   func(e *lifecyclev1.Lifecycle) { e.Transitions++ },
	} {
		t.Run(name, func(t *testing.T) {
			other := one.DeepCopy()
			change(other)
			if RequestIDOf(toyUID, "version", other) == base {
				t.Error("has the same number")
			}
		})
	}
}

// Histories fold loops and drop old transitions. A visit that was counted by the history could get a lower number than an
// earlier visit within the same second, and its request was never sent.
func TestRequestIDOfIncreasesWithEveryVisit(t *testing.T) {
	m := mustCompile(t, toy())
	loop := []Move{{Event: "node-selected", From: "Checking", To: "Restarting", Data: map[string]string{"node": "b"}}, {Event: "restarted", From: "Restarting", To: "Checking"}}
	round := []Move{{Event: "all-done", From: "Checking", To: "Soaking"}, {Event: "soaked", From: "Soaking", To: "Raising"}, {Event: "raised", From: "Raising", To: "Settled"}, {Event: "version-changed", From: "Settled", To: "Checking"}}
	var moves []Move
	for i := range 30 {
		moves = append(append(moves, slices.Repeat(loop, 1+i%3)...), round...)
	}
	entry := at("Checking", nil)
	last := RequestIDOf(toyUID, "version", entry).Sequence
	for i, move := range moves {
		move.Attempt = entry.Attempt
		next := enter(t, m, entry, half(), move)
		next.EnteredAt.Time = now.Add(-time.Duration(i) * time.Second) // a clock that is set back repeatedly
		sequence := RequestIDOf(toyUID, "version", &next).Sequence
		if sequence <= last {
			t.Fatalf("transition %d, %s: number %d after %d", i+1, move.Event, sequence, last)
		}
		entry, last = &next, sequence
	}
}

func TestSameAttemptSurvivesACollisionOfIDs(t *testing.T) {
	start := metav1.NewTime(now)
	one := lifecyclev1.Attempt{ID: AttemptID(toyUID, "version", "2", now), To: "2", StartedAt: start}
	for name, c := range map[string]struct {
		change         func(*lifecyclev1.Attempt)
		same, pursuing bool
	}{
		"the same attempt":                     {func(*lifecyclev1.Attempt) {}, true, true},
		"another target with the same id":      {func(a *lifecyclev1.Attempt) { a.To = "3" }, false, false},
		"another start with the same id":       {func(a *lifecyclev1.Attempt) { a.StartedAt = metav1.NewTime(now.Add(time.Second)) }, false, false},
		"another id":                           {func(a *lifecyclev1.Attempt) { a.ID = "0000000000000000" }, false, false},
		"the shorter id of an earlier release": {func(a *lifecyclev1.Attempt) { a.ID = a.ID[:6] }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			other := one
			c.change(&other)
			if got := SameAttempt(&one, &other); got != c.same {
				t.Errorf("the same attempt: %v, want %v", got, c.same)
			}
			if got := pursues(&other, toyUID, "version", "2"); got != c.pursuing {
				t.Errorf("after target 2: %v, want %v", got, c.pursuing)
			}
		})
	}
	if len(one.ID) != 16 {
		t.Errorf("id %s has %d characters", one.ID, len(one.ID))
	}
}
