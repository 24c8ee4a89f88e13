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

func (l *look[F, M, FX, E]) Enter(move Move) (lifecyclev1.Lifecycle, error) {
	if err := l.machine.legality.fire(move.From, move.Event, move.To); err != nil {
		return lifecyclev1.Lifecycle{}, fmt.Errorf("machine %s: %w", l.machine.def.Name, err)
	}
	out := lifecyclev1.Lifecycle{
		Name: l.name, Machine: l.machine.def.Name + "@sha256:" + l.machine.graph.Digest,
		State: move.To, EnteredAt: metav1.NewTime(l.now.Truncate(time.Second)),
		Attempt: move.Attempt, Memo: move.Memo,
	}
	if l.entry != nil {
		out.History, out.Transitions = l.entry.History, l.entry.Transitions
		if SameAttempt(l.entry.Attempt, move.Attempt) {
			out.Progress, out.Edges = l.entry.Progress, l.entry.Edges
		}
	}
	n := l.machine.states[move.To]
	memo, _ := l.machine.def.Memo.Decode(move.Memo)
	before := out.Progress
	out.Deadline = l.fixedDeadline(n)
	l.show(&out, func() {
		if at := l.deadlineOfFacts(&out, n, memo); at != nil {
			out.Deadline = at
		}
		l.measure(&out, n, memo)
		l.undecided(&out, n, memo)
	})
	out.Edges = min(out.Edges, math.MaxInt32-1) + 1
	out.Transitions = out.Transitions%math.MaxInt32 + 1 // wraps to 1: an overflow would be rejected by the schema for ever
	if n.Resting() || advanced(before, out.Progress) {
		out.Edges = 0
	}
	out.History = remember(out.History, lifecyclev1.Transition{
		At: out.EnteredAt, Event: move.Event, From: Cut(move.From, maxName), To: move.To, Attempt: attemptID(move.Attempt),
	})
	return out, nil
}

func (l *look[F, M, FX, E]) Project() lifecyclev1.Lifecycle {
	out := *l.entry
	n, known := l.machine.states[out.State]
	if !known {
		return out
	}
	memo, err := l.machine.def.Memo.Decode(out.Memo)
	if err != nil {
		return out
	}
	l.show(&out, func() {
		l.measure(&out, n, memo)
		l.undecided(&out, n, memo)
		if out.UnknownSince == nil {
			l.postpone(&out, n, memo)
		}
	})
	if advanced(l.entry.Progress, out.Progress) {
		out.Edges = 0
		if n.DeadlineAt == nil && !n.Resting() {
			out.Deadline = l.fixedDeadline(n)
		}
	}
	return out
}

// postpone moves a deadline that depends on the facts to its current value, if that is later: the awaited process may have been
// restarted. It never brings a deadline forward, which could show a wait as stalled before its time.
func (l *look[F, M, FX, E]) postpone(out *lifecyclev1.Lifecycle, n *node[F, M, FX], memo M) {
	if at := l.deadlineOfFacts(out, n, memo); at != nil && (out.Deadline == nil || out.Deadline.Before(at)) {
		out.Deadline = at
	}
}

// advanced reports whether the attempt made progress, which restarts its deadline and the count of its transitions.
func advanced(before, after *lifecyclev1.Progress) bool {
	return after != nil && (before == nil && after.Done > 0 || before != nil && after.Done > before.Done)
}

// show runs fill, which sets fields of the entry. A defect of the machine is shown in waitingFor.
func (l *look[F, M, FX, E]) show(out *lifecyclev1.Lifecycle, fill func()) {
	if err := l.guarded(fill); err != nil {
		out.WaitingFor = []lifecyclev1.WaitingFor{{Guard: "defect", Saw: Cut(err.Error(), maxSaw)}}
	}
}

// measure sets the fields that depend on the current facts: progress and waitingFor. A pending answer leaves both unchanged. A
// refused change shows no progress, because "0 of 3 done" would suggest that it has started.
func (l *look[F, M, FX, E]) measure(out *lifecyclev1.Lifecycle, n *node[F, M, FX], memo M) {
	if waiting, pending := l.waiting(n, memo); !pending || out.State != l.stateOf() {
		out.WaitingFor = waiting
	}
	refused := n.Kind == states.Hold && n.Stance == states.Refusal
	if l.machine.def.Progress.Of == nil || out.Attempt == nil || refused {
		out.Progress = nil
		return
	}
	l.asking = asking{what: "progress"}
	count := l.machine.def.Progress.Of(&l.facts, memo)
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

func (l *look[F, M, FX, E]) stateOf() string {
	if l.entry == nil {
		return ""
	}
	return l.entry.State
}

// waiting returns the awaited guards of the state that do not say yes, without duplicates, and whether an answer is pending.
func (l *look[F, M, FX, E]) waiting(n *node[F, M, FX], memo M) (out []lifecyclev1.WaitingFor, pending bool) {
	if n.Name == Locating {
		return l.unlocated()
	}
	for _, i := range n.awaited {
		for _, b := range l.blockers(&n.rows[i], memo) {
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

// unlocated returns why the facts do not show the state of the lifecycle.
func (l *look[F, M, FX, E]) unlocated() (out []lifecyclev1.WaitingFor, pending bool) {
	l.asking = asking{what: "Locate"}
	_, verdict := l.machine.def.Locate.Find(&l.facts)
	if verdict.Answer == transitions.Yes || verdict.Pending {
		return nil, verdict.Pending
	}
	if verdict.Want == "" {
		verdict.Want = "facts that say where the lifecycle stands"
	}
	return []lifecyclev1.WaitingFor{waitingFor(transitions.Blocker{Guard: EventLocated, Verdict: verdict})}, false
}

func (l *look[F, M, FX, E]) blockers(row *Transition[F, M], memo M) []transitions.Blocker {
	l.asking = asking{"guard", row.Event, row.From}
	if row.Choose == nil {
		return row.When.Blockers(&l.facts, memo)
	}
	verdict, _ := row.Choose.Pick(&l.facts, memo)
	if verdict.Answer == transitions.Yes {
		return nil
	}
	if verdict.Want == "" {
		verdict.Want = row.Choose.Guard.Want
	}
	return []transitions.Blocker{{Guard: row.Choose.Guard.Name, Verdict: verdict}}
}

func waitingFor(b transitions.Blocker) lifecyclev1.WaitingFor {
	return lifecyclev1.WaitingFor{Guard: Cut(b.Guard, maxName), Want: Cut(b.Want, maxText), Saw: Cut(b.Saw, maxSaw)}
}

// fixedDeadline returns the deadline of a Work or Wait state that was entered, or made progress, now.
func (l *look[F, M, FX, E]) fixedDeadline(n *node[F, M, FX]) *metav1.Time {
	if n.Resting() || n.Deadline <= 0 {
		return nil
	}
	return l.stretched(l.now, l.now.Add(n.Deadline))
}

// deadlineOfFacts returns the deadline that the facts give the state, or nil. It replaces the fixed deadline.
func (l *look[F, M, FX, E]) deadlineOfFacts(out *lifecyclev1.Lifecycle, n *node[F, M, FX], memo M) *metav1.Time {
	if n.DeadlineAt == nil || n.Kind == states.Rest {
		return nil
	}
	l.asking = asking{what: "deadline", of: n.Name}
	entered := out.EnteredAt.Time
	at := n.DeadlineAt(&l.facts, memo, entered)
	if at.IsZero() {
		return nil
	}
	return l.stretched(entered, at)
}

func (l *look[F, M, FX, E]) stretched(from, at time.Time) *metav1.Time {
	if l.scale > 0 {
		at = from.Add(time.Duration(float64(at.Sub(from)) * l.scale))
	}
	t := metav1.NewTime(at.Truncate(time.Second))
	return &t
}

func attemptID(a *lifecyclev1.Attempt) string {
	if a == nil {
		return ""
	}
	return a.ID
}

// Limits of the status schema. Every text is cut to them before it is written.
const (
	maxText    = 512
	maxSaw     = 1024
	maxName    = 64
	maxUnit    = 32
	maxTarget  = 128
	maxWaiting = 8
	maxHistory = 20
	maxCount   = 1 << 30
)
