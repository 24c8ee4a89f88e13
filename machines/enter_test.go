package machines

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/transitions"
)

// enter enters the move from the entry, on facts that include the needs of the entered state.
func enter(t *testing.T, m *toyMachine, entry *lifecyclev1.Lifecycle, f toyFacts, move Move) lifecyclev1.Lifecycle {
	t.Helper()
	got, err := evaluate(m, entry, f, bind(m).NeedsIn(move.To)...).Enter(move)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEnter(t *testing.T) {
	m := mustCompile(t, toy())
	entry := at("Checking", nil)
	entry.Progress = &lifecyclev1.Progress{Done: 1, Total: 2, Unit: "node"}
	entry.TransitionsSinceProgress = 7
	entry.WaitingFor = []lifecyclev1.WaitingFor{{Guard: "of-another-state"}}
	got := enter(t, m, entry, half(), Move{
		Event: "node-selected", From: "Checking", To: "Restarting", Data: map[string]string{"node": "b"}, Attempt: entry.Attempt,
	})
	deadline := metav1.NewTime(now.Add(10 * time.Minute))
	want := lifecyclev1.Lifecycle{
		Name: "version", Machine: "toy-version@sha256:" + m.graph.Digest, State: "Restarting", EnteredAt: metav1.NewTime(now),
		Attempt: entry.Attempt, Data: map[string]string{"node": "b"}, TransitionsSinceProgress: 8, Transitions: 1, Deadline: &deadline,
		Progress:   &lifecyclev1.Progress{Done: 1, Total: 2, Unit: "node", Current: "b"},
		WaitingFor: []lifecyclev1.WaitingFor{{Guard: "restarted", Expected: "the selected node on the wanted version", Observed: "still 1"}},
		History:    []lifecyclev1.Transition{{At: metav1.NewTime(now), Event: "node-selected", From: "Checking", To: "Restarting", Attempt: entry.Attempt.ID}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Why an effect failed is shown as long as the attempt lasts, and not for an attempt that begins.
func TestWaitingForShowsAFailure(t *testing.T) {
	def, failure := toy(), "refused with 409"
	for i := range def.States {
		def.States[i].Failure = func(*toyFacts, toyData) string { return failure }
	}
	m := mustCompile(t, def)
	restarting := at("Restarting", map[string]string{"node": "b"})
	entered := func(attempt *lifecyclev1.Attempt) lifecyclev1.Lifecycle {
		return enter(t, m, restarting, half(), Move{Event: "restarted", From: "Restarting", To: "Checking", Attempt: attempt})
	}
	shown := evaluate(m, restarting, half()).Project()
	next, other := entered(attemptAt("2")), entered(attemptAt("3"))
	failure = ""
	over := evaluate(m, restarting, half()).Project()
	failed := lifecyclev1.WaitingFor{Guard: "failure", Expected: "success", Observed: "refused with 409"}
	restarts := lifecyclev1.WaitingFor{Guard: "restarted", Expected: "the selected node on the wanted version", Observed: "still 1"}
	onTarget := lifecyclev1.WaitingFor{Guard: "on-target", Expected: "every node on the wanted version", Observed: "1 of 2"}
	for name, tc := range map[string]struct {
		entry lifecyclev1.Lifecycle
		want  []lifecyclev1.WaitingFor
	}{
		"in its state":                          {shown, []lifecyclev1.WaitingFor{restarts, failed}},
		"in the next state":                     {next, []lifecyclev1.WaitingFor{onTarget, failed}},
		"in the first state of another attempt": {other, []lifecyclev1.WaitingFor{onTarget}},
		"after a success":                       {over, []lifecyclev1.WaitingFor{restarts}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.entry.WaitingFor); diff != "" {
				t.Errorf("waitingFor (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEnterRefusesWhatTheGraphDoesNotHave(t *testing.T) {
	m := mustCompile(t, toy())
	for name, move := range map[string]Move{
		"an event of another state":       {Event: "raised", From: "Checking", To: "Settled"},
		"a wrong destination":             {Event: "node-selected", From: "Checking", To: "Raising"},
		"a state that is never inferred":  {Event: EventInferred, From: "Checking", To: "Raising"},
		"an event that nobody declared":   {Event: "jump", From: "Checking", To: "Raising"},
		"a target change of a rest state": {Event: EventTargetChanged, From: "Settled", To: "Checking"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := evaluate(m, at(move.From, nil), half()).Enter(move)
			if err == nil || !strings.Contains(err.Error(), "machine toy-version: taking "+move.Event+" from "+move.From) {
				t.Errorf("err = %v", err)
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	soak := now.Add(3 * time.Hour)
	toSoak := Move{Event: "all-done", From: "Checking", To: "Soaking"}
	toRestart := Move{Event: "node-selected", From: "Checking", To: "Restarting", Data: map[string]string{"node": "b"}}
	cases := map[string]struct {
		change func(*toyDefinition)
		facts  toyFacts
		move   Move
		scale  float64
		want   time.Duration // from now; 0 for none
	}{
		"a fixed deadline":                                {facts: half(), move: toRestart, want: 10 * time.Minute},
		"a fixed deadline, stretched":                     {facts: half(), move: toRestart, scale: 1.5, want: 15 * time.Minute},
		"a deadline of the facts":                         {facts: with(done(), func(f *toyFacts) { f.Soak = soak }), move: toSoak, want: 3 * time.Hour},
		"a deadline of the facts, shortened":              {facts: with(done(), func(f *toyFacts) { f.Soak = soak }), move: toSoak, scale: 0.01, want: 108 * time.Second},
		"facts that give no deadline leave the fixed one": {facts: done(), move: toSoak, want: time.Hour},
		"a rest has none":                                 {facts: done(), move: Move{Event: "raised", From: "Raising", To: "Settled"}},
		"a hold has none":                                 {facts: half(), move: Move{Event: "path-forbidden", From: "Checking", To: "Refused"}},
		"a hold may have one of the facts": {
			change: func(d *toyDefinition) {
				d.States[refused].DeadlineAt = func(_ *toyFacts, _ toyData, entered time.Time) time.Time { return entered.Add(time.Minute) }
			},
			facts: half(), move: Move{Event: "path-forbidden", From: "Checking", To: "Refused"}, want: time.Minute,
		},
		"Inferring has one": {facts: half(), move: Move{Event: EventInferred, From: "Checking", To: Inferring}, want: 10 * time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := mustCompile(t, changed(tc.change))
			lc := bind(m)
			got, err := lc.Evaluate(EvaluationInput[struct{}, toyFacts]{
				Snapshot: tc.facts, UID: toyUID, Entry: at(tc.move.From, nil), DeadlineScale: tc.scale,
				Options: ObserveOptions{Needs: []transitions.Need{"level", "sync"}, Now: now},
			}).Enter(tc.move)
			if err != nil {
				t.Fatal(err)
			}
			var want *metav1.Time
			if tc.want != 0 {
				d := metav1.NewTime(now.Add(tc.want))
				want = &d
			}
			if diff := cmp.Diff(want, got.Deadline); diff != "" {
				t.Errorf("deadline (-want +got):\n%s", diff)
			}
		})
	}
}

// The awaited process may be restarted while the state lasts.
func TestDeadlineAtPostponesTheDeadline(t *testing.T) {
	def := toy()
	entered := at("Soaking", nil)
	entered.EnteredAt = metav1.NewTime(now.Add(-time.Hour))
	deadline := metav1.NewTime(now.Add(time.Hour))
	entered.Deadline = &deadline
	for name, tc := range map[string]struct {
		soak  time.Time
		scale float64
		want  time.Duration // from now
	}{
		"the facts say the same": {soak: now.Add(time.Hour), want: time.Hour},
		"later":                  {soak: now.Add(3 * time.Hour), want: 3 * time.Hour},
		"earlier":                {soak: now.Add(time.Minute), want: time.Hour},
		"nothing":                {want: time.Hour},
		"later, stretched from when it was entered":   {soak: now.Add(time.Hour), scale: 2, want: 3 * time.Hour},
		"later, shortened from when it was entered":   {soak: now.Add(5 * time.Hour), scale: 0.5, want: 2 * time.Hour},
		"earlier, shortened from when it was entered": {soak: now.Add(2 * time.Hour), scale: 0.5, want: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			facts := with(done(), func(f *toyFacts) { f.Soak = tc.soak })
			got := bind(mustCompile(t, def)).Evaluate(EvaluationInput[struct{}, toyFacts]{
				Snapshot: facts, UID: toyUID, Entry: entered, DeadlineScale: tc.scale,
				Options: ObserveOptions{Needs: []transitions.Need{"level", "sync"}, Now: now},
			}).Project()
			if want := metav1.NewTime(now.Add(tc.want)); got.Deadline == nil || !got.Deadline.Equal(&want) {
				t.Errorf("deadline %v, want %v", got.Deadline, want)
			}
		})
	}
}

func TestProjectLimitsADeadlineOfAClockThatWasAhead(t *testing.T) {
	m := mustCompile(t, toy())
	for name, tc := range map[string]struct{ ahead, want time.Duration }{
		"the clock was not ahead": {-time.Minute, 9 * time.Minute},
		"the clock was ahead":     {time.Hour, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			entry := at("Restarting", map[string]string{"node": "b"})
			entry.Progress = &lifecyclev1.Progress{Done: 1, Total: 2, Unit: "node"}
			entry.EnteredAt = metav1.NewTime(now.Add(tc.ahead))
			deadline := metav1.NewTime(entry.EnteredAt.Add(10 * time.Minute))
			entry.Deadline = &deadline
			want := metav1.NewTime(now.Add(tc.want))
			if diff := cmp.Diff(&want, evaluate(m, entry, half(), bind(m).NeedsIn("Restarting")...).Project().Deadline); diff != "" {
				t.Errorf("deadline (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeadlineAtThatReadsAnUndeclaredFactIsShown(t *testing.T) {
	def := toy()
	def.Transitions[soakedRow].When = onTargetChange // so that nothing in Soaking needs sync
	def.States[soaking].DeadlineAt = func(f *toyFacts, _ toyData, _ time.Time) time.Time { reads(f); return now }
	m := mustCompile(t, def)
	got, err := bind(m).Evaluate(EvaluationInput[struct{}, toyFacts]{Snapshot: done(), Entry: at("Checking", nil), Options: ObserveOptions{Now: now}}).Enter(Move{Event: "all-done", From: "Checking", To: "Soaking"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.WaitingFor) != 1 || got.WaitingFor[0].Guard != "defect" || !strings.Contains(got.WaitingFor[0].Observed, "deadline of Soaking") {
		t.Errorf("waitingFor %v does not name the defect", got.WaitingFor)
	}
	if want := metav1.NewTime(now.Add(time.Hour)); got.Deadline == nil || !got.Deadline.Equal(&want) {
		t.Errorf("deadline %v, want the fixed one", got.Deadline)
	}
}

func TestEdgesCountTransitionsWithoutProgress(t *testing.T) {
	m := mustCompile(t, toy())
	walked := func(edges, done int32, target string) *lifecyclev1.Lifecycle {
		e := under(at("Restarting", map[string]string{"node": "a"}), target)
		e.TransitionsSinceProgress = edges
		e.Progress = &lifecyclev1.Progress{Done: done, Total: 2, Unit: "node"}
		return e
	}
	back := func(e *lifecyclev1.Lifecycle) Move {
		return Move{Event: "restarted", From: "Restarting", To: "Checking", Attempt: e.Attempt}
	}
	cases := map[string]struct {
		entry *lifecyclev1.Lifecycle
		move  func(*lifecyclev1.Lifecycle) Move
		want  int32
	}{
		"an edge without progress counts":        {walked(39, 1, "2"), back, 40},
		"an edge with progress starts again":     {walked(39, 0, "2"), back, 0},
		"an edge after progress was lost counts": {walked(39, 2, "2"), back, 40},
		"an edge of another attempt starts again at its first": {walked(39, 1, "1"), func(*lifecyclev1.Lifecycle) Move {
			return Move{Event: EventTargetChanged, From: "Restarting", To: "Checking"}
		}, 1},
		"Inferring counts on, so that a loop through it is bound": {walked(39, 1, "2"), func(e *lifecyclev1.Lifecycle) Move {
			return Move{Event: EventInferred, From: "Restarting", To: Inferring, Attempt: e.Attempt}
		}, 40},
		"a rest starts again": {walked(39, 1, "2"), func(e *lifecyclev1.Lifecycle) Move {
			return Move{Event: EventInferred, From: "Restarting", To: "Settled", Attempt: e.Attempt}
		}, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := enter(t, m, tc.entry, half(), tc.move(tc.entry)).TransitionsSinceProgress; got != tc.want {
				t.Errorf("edges %d, want %d", got, tc.want)
			}
		})
	}
}

// Any user may write a status. A count beyond 32 bits would be rejected by the schema, and the lifecycle would be blocked.
func TestEnterCountsDoNotOverflow(t *testing.T) {
	m := mustCompile(t, toy())
	for name, tc := range map[string]struct{ edges, transitions, wantEdges, wantTransitions int32 }{
		"at the bound":  {math.MaxInt32, math.MaxInt32, math.MaxInt32, 1},
		"next to it":    {math.MaxInt32 - 1, math.MaxInt32 - 1, math.MaxInt32, math.MaxInt32},
		"at nothing":    {0, 0, 1, 1},
		"below nothing": {-1, -1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			entry := at("Restarting", map[string]string{"node": "a"})
			entry.TransitionsSinceProgress, entry.Transitions = tc.edges, tc.transitions
			entry.Progress = &lifecyclev1.Progress{Done: 1, Total: 2, Unit: "node"}
			got := enter(t, m, entry, half(), Move{Event: "restarted", From: "Restarting", To: "Checking", Attempt: entry.Attempt})
			if got.TransitionsSinceProgress != tc.wantEdges || got.Transitions != tc.wantTransitions {
				t.Errorf("edges %d and transitions %d, want %d and %d", got.TransitionsSinceProgress, got.Transitions, tc.wantEdges, tc.wantTransitions)
			}
		})
	}
}

func TestEdgesRestartAfterProgressWasProjected(t *testing.T) {
	m := mustCompile(t, toy())
	entry := at("Restarting", map[string]string{"node": "b"})
	entry.TransitionsSinceProgress, entry.Progress = 39, &lifecyclev1.Progress{Done: 1, Total: 2, Unit: "node", Current: "b"}
	deadline := metav1.NewTime(now.Add(time.Second))
	entry.Deadline = &deadline

	still := evaluate(m, entry, half()).Project()
	if still.TransitionsSinceProgress != 39 || !still.Deadline.Equal(&deadline) {
		t.Errorf("without progress: edges %d and deadline %v moved", still.TransitionsSinceProgress, still.Deadline)
	}
	shown := evaluate(m, entry, done()).Project()
	restarted := metav1.NewTime(now.Add(10 * time.Minute))
	if shown.TransitionsSinceProgress != 0 || !shown.Deadline.Equal(&restarted) {
		t.Errorf("with progress: edges %d, deadline %v, want 0 and %v", shown.TransitionsSinceProgress, shown.Deadline, restarted)
	}
	next := enter(t, m, &shown, done(), Move{Event: "restarted", From: "Restarting", To: "Checking", Attempt: shown.Attempt})
	if next.TransitionsSinceProgress != 1 {
		t.Errorf("after the edge: %d, want 1", next.TransitionsSinceProgress)
	}
	if RequestIDOf(toyUID, "version", entry) != RequestIDOf(toyUID, "version", &shown) {
		t.Error("progress in the middle of a visit renumbers its requests")
	}
	if RequestIDOf(toyUID, "version", entry) == RequestIDOf(toyUID, "version", &next) {
		t.Error("another visit has the same number")
	}
}

func TestProgressThatIsUnknownKeepsTheLastCount(t *testing.T) {
	def := toy()
	def.Progress.Of = func(*toyFacts, toyData) Count { return Count{Unknown: true} }
	entry := at("Restarting", map[string]string{"node": "b"})
	entry.Progress = &lifecyclev1.Progress{Done: 1, Total: 2, Unit: "node"}
	if diff := cmp.Diff(entry.Progress, evaluate(mustCompile(t, def), entry, half()).Project().Progress); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProgressFitsTheStatus(t *testing.T) {
	def := toy()
	def.Progress.Of = func(*toyFacts, toyData) Count {
		return Count{Done: 1 << 40, Total: 1 << 41, Current: strings.Repeat("n", 100)}
	}
	got := evaluate(mustCompile(t, def), at("Restarting", map[string]string{"node": "b"}), half()).Project().Progress
	if got.Done <= 0 || got.Total <= 0 || len(got.Current) != 64 {
		t.Errorf("%+v", got)
	}
}

func guardsOf(waiting []lifecyclev1.WaitingFor) []string {
	names := []string{}
	for _, w := range waiting {
		names = append(names, w.Guard)
	}
	return names
}

func TestWaitingFor(t *testing.T) {
	unreadable := transitions.Unreadable[bool](errDown)
	before := []lifecyclev1.WaitingFor{{Guard: "before", Observed: "as it was"}}
	cases := map[string]struct {
		change func(*toyDefinition)
		state  string
		facts  toyFacts
		needs  []transitions.Need
		want   []string
	}{
		"only awaited edges are listed, each part of an All on its own": {
			state: "Checking", facts: with(half(), func(f *toyFacts) { f.Nodes = nil; f.Sync = transitions.Known(false, now) }), want: []string{"node-left", "in-sync"},
		},
		"an edge that says yes is not listed": {state: "Checking", facts: done(), want: []string{"node-left"}},
		"what cannot be read is listed with the reason": {
			state: "Restarting", facts: with(half(), func(f *toyFacts) { f.Sync = unreadable }), want: []string{"restarted", "in-sync"},
		},
		"what is pending leaves everything as it was": {
			state: "Restarting", facts: with(half(), func(f *toyFacts) { f.Sync = transitions.Pending[bool]() }), want: []string{"before"},
		},
		"a rest waits for nothing": {state: "Settled", facts: half(), want: []string{}},
		"one guard that holds two edges back is listed once": {
			change: func(d *toyDefinition) {
				d.Transitions[pathForbidden].Awaited, d.Transitions[pathForbidden].When = true, transitions.All(inSync, pathAllowed)
			},
			state: "Checking", facts: with(done(), func(f *toyFacts) { f.Sync, f.Allowed = unreadable, false }), want: []string{"in-sync", "path-allowed", "node-left"},
		},
		"Inferring reports what it lacks": {
			state: Inferring, facts: with(half(), func(f *toyFacts) { f.Level = transitions.Unreadable[int](errDown) }), want: []string{"inferred"},
		},
		"Inferring with pending facts stays as it was": {
			state: Inferring, facts: with(half(), func(f *toyFacts) { f.Level = transitions.Pending[int]() }), want: []string{"before"},
		},
		"at most eight are listed": {
			change: func(d *toyDefinition) {
				var many []toyGuard
				for letter := range strings.SplitSeq("abcdefghij", "") {
					g := pathAllowed
					g.Name = letter
					many = append(many, g)
				}
				d.Transitions[soakedRow].When = transitions.All(many...)
			},
			state: "Soaking", facts: with(done(), func(f *toyFacts) { f.Allowed = false }), want: strings.Split("abcdefgh", ""),
		},
		"a guard that panics shows as a defect": {
			change: func(d *toyDefinition) {
				d.Transitions[soakedRow].When = toyGuard{Name: "odd", Doc: "panics", Expected: "calm", Evaluate: func(*toyFacts, toyData) transitions.Verdict { panic("odd") }}
			},
			state: "Soaking", facts: done(), want: []string{"defect"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			def := changed(tc.change)
			entry := at(tc.state, nil)
			if tc.state == "Restarting" {
				entry.Data = map[string]string{"node": "b"}
			}
			entry.WaitingFor = before
			got := evaluate(mustCompile(t, def), entry, tc.facts, tc.needs...).Project()
			if diff := cmp.Diff(tc.want, guardsOf(got.WaitingFor)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWaitingForOnEnteringLeavesOutWhatIsPending(t *testing.T) {
	m := mustCompile(t, toy())
	f := with(half(), func(f *toyFacts) { f.Sync = transitions.Pending[bool]() })
	got := enter(t, m, at("Checking", nil), f, Move{Event: "node-selected", From: "Checking", To: "Restarting", Data: map[string]string{"node": "b"}})
	if diff := cmp.Diff([]string{"restarted"}, guardsOf(got.WaitingFor)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEnterAStateThatIsLeftAtOnce enters, without an entry, a resting state from which a transition is due on the same facts.
func TestEnterAStateThatIsLeftAtOnce(t *testing.T) {
	m := mustCompile(t, toy())
	move := Move{Event: EventInferred, To: "Settled"}
	got := enter(t, m, nil, half(), move)
	if diff := cmp.Diff([]string{}, guardsOf(got.WaitingFor)); diff != "" {
		t.Errorf("waits for (-want +got):\n%s", diff)
	}
	if then := evaluate(m, &got, half()).Decide(); then.Move == nil {
		t.Error("no transition is due: the test shows nothing")
	}
}

func TestProjectLeavesAloneWhatItDoesNotKnow(t *testing.T) {
	m := mustCompile(t, toy())
	for name, entry := range map[string]*lifecyclev1.Lifecycle{
		"a state of another release": at("Dancing", nil),
		"data of another release":    at("Restarting", map[string]string{"pod": "b"}),
	} {
		t.Run(name, func(t *testing.T) {
			entry.WaitingFor = []lifecyclev1.WaitingFor{{Guard: "as-it-was"}}
			if diff := cmp.Diff(*entry, evaluate(m, entry, half()).Project()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
