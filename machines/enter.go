package machines

import (
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

func (l *evaluation[F, D, FX, E]) Enter(move Move) (lifecyclev1.Lifecycle, error) {
	if err := l.machine.legality.fire(move.From, move.Event, move.To); err != nil {
		return lifecyclev1.Lifecycle{}, fmt.Errorf("machine %s: %w", l.machine.def.Name, err)
	}
	out := lifecyclev1.Lifecycle{
		Name: l.name, Machine: l.machine.def.Name + "@sha256:" + l.machine.graph.Digest,
		State: move.To, EnteredAt: metav1.NewTime(l.now.Truncate(time.Second)),
		Attempt: move.Attempt, Data: move.Data,
	}
	if l.entry != nil {
		out.History, out.Transitions = l.entry.History, l.entry.Transitions
		if SameAttempt(l.entry.Attempt, move.Attempt) {
			out.Progress, out.TransitionsSinceProgress = l.entry.Progress, l.entry.TransitionsSinceProgress
		}
	}
	n := l.machine.states[move.To]
	data, _ := l.machine.def.Data.Decode(move.Data)
	before := out.Progress
	out.Deadline = l.fixedDeadline(n)
	l.show(&out, func() {
		if at := l.deadlineOfFacts(&out, n, data); at != nil {
			out.Deadline = at
		}
		l.measure(&out, n, data)
		l.undecided(&out, n, data)
	})
	out.TransitionsSinceProgress = min(out.TransitionsSinceProgress, math.MaxInt32-1) + 1
	out.Transitions = out.Transitions%math.MaxInt32 + 1 // wraps to 1: an overflow would be rejected by the schema for ever
	if n.Resting() || advanced(before, out.Progress) {
		out.TransitionsSinceProgress = 0
	}
	out.History = appendHistory(out.History, lifecyclev1.Transition{
		At: out.EnteredAt, Event: move.Event, From: Cut(move.From, maxName), To: move.To, Attempt: attemptID(move.Attempt),
	})
	return out, nil
}

func (l *evaluation[F, D, FX, E]) Project() lifecyclev1.Lifecycle {
	out := *l.entry
	n, known := l.machine.states[out.State]
	if !known {
		return out
	}
	data, err := l.machine.def.Data.Decode(out.Data)
	if err != nil {
		return out
	}
	l.show(&out, func() {
		l.measure(&out, n, data)
		l.undecided(&out, n, data)
		if out.UnknownSince == nil {
			l.postpone(&out, n, data)
		}
	})
	l.restoreDeadline(&out, n)
	l.limitDeadline(&out, n)
	if advanced(l.entry.Progress, out.Progress) {
		out.TransitionsSinceProgress = 0
		if n.DeadlineAt == nil && !n.Resting() {
			out.Deadline = l.fixedDeadline(n)
		}
	}
	return out
}

func (l *evaluation[F, D, FX, E]) Problems() []transitions.Reason {
	var out []transitions.Reason
	err := l.guarded(func() {
		if n, known := l.machine.states[l.stateOf()]; known {
			out = l.problems(n)
		}
	})
	if err != nil {
		return nil // waitingFor shows the defect
	}
	return out
}

func (l *evaluation[F, D, FX, E]) problems(n *node[F, D, FX]) (out []transitions.Reason) {
	data, err := l.machine.def.Data.Decode(l.entry.Data)
	if err != nil {
		return nil
	}
	for _, i := range n.awaited {
		for _, b := range l.blockers(&n.rows[i], data) {
			if b.Reason != "" && !slices.Contains(out, b.Reason) {
				out = append(out, b.Reason)
			}
		}
	}
	return out
}

// advanced reports whether the attempt made progress, which restarts its deadline and the count of its transitions.
func advanced(before, after *lifecyclev1.Progress) bool {
	return after != nil && (before == nil && after.Done > 0 || before != nil && after.Done > before.Done)
}

// show runs fill, which sets fields of the entry. A defect of the machine is shown in waitingFor.
func (l *evaluation[F, D, FX, E]) show(out *lifecyclev1.Lifecycle, fill func()) {
	if err := l.guarded(fill); err != nil {
		out.WaitingFor = []lifecyclev1.WaitingFor{{Guard: "defect", Observed: Cut(err.Error(), maxObserved)}}
	}
}

// measure sets the fields that depend on the current facts: progress and waitingFor. A pending answer leaves both unchanged. A
// refused change shows no progress, because "0 of 3 done" would suggest that it has started; nor does a deletion, whose progress no
// machine measures.
func (l *evaluation[F, D, FX, E]) measure(out *lifecyclev1.Lifecycle, n *node[F, D, FX], data D) {
	if waiting, pending := l.waiting(n, data); !pending || out.State != l.stateOf() {
		out.WaitingFor = l.withFailure(waiting, out, n, data)
	}
	refused := n.Kind == states.Hold && n.HoldReason == states.Refusal
	if l.machine.def.Progress.Of == nil || out.Attempt == nil || refused || l.deleting {
		out.Progress = nil
		return
	}
	l.running = running{what: "progress"}
	count := l.machine.def.Progress.Of(&l.facts, data)
	if count.Unknown {
		return
	}
	out.Progress = nil
	if count.Total > 0 {
		out.Progress = &lifecyclev1.Progress{
			Done: int32(min(count.Done, maxCount)), Total: int32(min(count.Total, maxCount)), //nolint:gosec // bounded above
			Unit: l.machine.def.Progress.Unit, Current: Cut(count.Current, maxName),
		}
	}
}

func (l *evaluation[F, D, FX, E]) stateOf() string {
	if l.entry == nil {
		return ""
	}
	return l.entry.State
}

// waiting returns the awaited guards of the state that do not say yes, without duplicates, and whether an answer is pending.
func (l *evaluation[F, D, FX, E]) waiting(n *node[F, D, FX], data D) (out []lifecyclev1.WaitingFor, pending bool) {
	if n.Name == Inferring {
		return l.notInferred()
	}
	for _, i := range n.awaited {
		for _, b := range l.blockers(&n.rows[i], data) {
			pending = pending || b.Pending
			listed := slices.ContainsFunc(out, func(w lifecyclev1.WaitingFor) bool { return w.Guard == Cut(b.Guard, maxName) })
			if listed || b.Pending || len(out) == maxWaiting {
				continue
			}
			out = append(out, waitingFor(b))
		}
	}
	return out, pending
}

// failureGuard is the name under which waitingFor shows State.Failure.
const failureGuard = "failure"

// withFailure adds why the last effect had no success. The facts are of the entry's attempt, so that nothing is added for another one.
func (l *evaluation[F, D, FX, E]) withFailure(waiting []lifecyclev1.WaitingFor, out *lifecyclev1.Lifecycle, n *node[F, D, FX], data D) []lifecyclev1.WaitingFor {
	if n.Failure == nil || l.entry == nil || out.Attempt != l.entry.Attempt && !SameAttempt(l.entry.Attempt, out.Attempt) {
		return waiting
	}
	l.running = running{what: "Failure", of: n.Name}
	text := n.Failure(&l.facts, data)
	if text == "" {
		return waiting
	}
	return append(waiting[:min(len(waiting), maxWaiting-1)], lifecyclev1.WaitingFor{Guard: failureGuard, Expected: "success", Observed: Cut(text, maxObserved)})
}

// notInferred returns why the facts do not show the state of the lifecycle.
func (l *evaluation[F, D, FX, E]) notInferred() (out []lifecyclev1.WaitingFor, pending bool) {
	l.running = running{what: "Infer"}
	_, verdict := l.machine.def.Infer.Find(&l.facts)
	if verdict.Answer == transitions.Yes || verdict.Pending {
		return nil, verdict.Pending
	}
	if verdict.Expected == "" {
		verdict.Expected = "facts that show the state of the lifecycle"
	}
	return []lifecyclev1.WaitingFor{waitingFor(transitions.Blocker{Guard: EventInferred, Verdict: verdict})}, false
}

func (l *evaluation[F, D, FX, E]) blockers(row *Transition[F, D], data D) []transitions.Blocker {
	l.running = running{"guard", row.Event, row.From}
	if row.Choose == nil {
		return row.When.Blockers(&l.facts, data)
	}
	verdict, _ := row.Choose.Pick(&l.facts, data)
	if verdict.Answer == transitions.Yes {
		return nil
	}
	if verdict.Expected == "" {
		verdict.Expected = row.Choose.Guard.Expected
	}
	return []transitions.Blocker{{Guard: row.Choose.Guard.Name, Verdict: verdict}}
}

func waitingFor(b transitions.Blocker) lifecyclev1.WaitingFor {
	return lifecyclev1.WaitingFor{Guard: Cut(b.Guard, maxName), Expected: Cut(b.Expected, maxText), Observed: Cut(b.Observed, maxObserved)}
}

func attemptID(a *lifecyclev1.Attempt) string {
	if a == nil {
		return ""
	}
	return a.ID
}
