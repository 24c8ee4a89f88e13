package machines

import (
	"fmt"
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
		out.History = l.entry.History
		if sameAttempt(l.entry.Attempt, move.Attempt) {
			out.Progress, out.Edges = l.entry.Progress, l.entry.Edges
		}
	}
	n := l.machine.states[move.To]
	memo, _ := l.machine.def.Memo.Decode(move.Memo)
	done := int32(0)
	if out.Progress != nil {
		done = out.Progress.Done
	}
	out.Deadline = l.deadline(n, memo)
	if err := l.guarded(func() { l.measure(&out, n, memo) }); err != nil {
		out.WaitingFor = []lifecyclev1.WaitingFor{{Guard: "defect", Saw: cut(err.Error(), maxText)}}
	}
	out.Edges++
	if n.Resting() || out.Progress != nil && out.Progress.Done > done {
		out.Edges = 0
	}
	out.History = remember(out.History, lifecyclev1.Transition{
		At: out.EnteredAt, Event: move.Event, From: cut(move.From, maxName), To: move.To, Attempt: attemptID(move.Attempt),
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
	if err := l.guarded(func() { l.measure(&out, n, memo) }); err != nil {
		out.WaitingFor = []lifecyclev1.WaitingFor{{Guard: "defect", Saw: cut(err.Error(), maxText)}}
	}
	return out
}

// measure fills in what depends on this pass's facts: progress and waitingFor. What is pending leaves both as they were.
func (l *look[F, M, FX, E]) measure(out *lifecyclev1.Lifecycle, n *node[F, M, FX], memo M) {
	if waiting, pending := l.waiting(n, memo); !pending || out.State != l.stateOf() {
		out.WaitingFor = waiting
	}
	if l.machine.def.Progress.Of == nil || out.Attempt == nil {
		out.Progress = nil
		return
	}
	l.asking = "progress"
	count := l.machine.def.Progress.Of(&l.facts, memo)
	out.Progress = nil
	if count.Total > 0 {
		out.Progress = &lifecyclev1.Progress{
			Done: int32(min(count.Done, maxCount)), Total: int32(min(count.Total, maxCount)), //nolint:gosec // bounded above
			Unit: l.machine.def.Progress.Unit, Current: cut(count.Current, maxName),
		}
	}
}

func (l *look[F, M, FX, E]) stateOf() string {
	if l.entry == nil {
		return ""
	}
	return l.entry.State
}

// waiting lists the awaited guards of the state that do not say yes, each once, and whether one is only pending.
func (l *look[F, M, FX, E]) waiting(n *node[F, M, FX], memo M) (out []lifecyclev1.WaitingFor, pending bool) {
	seen := map[string]bool{}
	for _, i := range n.awaited {
		row := &n.rows[i]
		for _, b := range l.blockers(row, memo) {
			pending = pending || b.Pending
			if seen[b.Guard] || b.Pending || len(out) == maxWaiting {
				continue
			}
			seen[b.Guard] = true
			out = append(out, waitingFor(b))
		}
	}
	return out, pending
}

func (l *look[F, M, FX, E]) blockers(row *Transition[F, M], memo M) []transitions.Blocker {
	l.asking = "guard of " + row.Event + " from " + row.From
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
	return lifecyclev1.WaitingFor{Guard: cut(b.Guard, maxName), Want: cut(b.Want, maxText), Saw: cut(b.Saw, maxText)}
}

// deadline of a state entered now.
func (l *look[F, M, FX, E]) deadline(n *node[F, M, FX], memo M) *metav1.Time {
	var at time.Time
	switch {
	case n.Kind == states.Rest, n.Kind == states.Hold && n.DeadlineAt == nil:
		return nil
	case n.DeadlineAt != nil:
		_ = l.guarded(func() {
			l.asking = "deadline of " + n.Name
			at = n.DeadlineAt(&l.facts, memo, l.now)
		})
	case n.Deadline > 0:
		at = l.now.Add(n.Deadline)
	}
	if at.IsZero() {
		return nil
	}
	if l.scale > 0 {
		at = l.now.Add(time.Duration(float64(at.Sub(l.now)) * l.scale))
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

func sameAttempt(a, b *lifecyclev1.Attempt) bool {
	return a != nil && b != nil && a.ID == b.ID
}

// Bounds of the status schema. Everything is cut to them before it is written.
const (
	maxText    = 512
	maxName    = 64
	maxUnit    = 32
	maxTarget  = 128
	maxWaiting = 8
	maxHistory = 20
	maxCount   = 1 << 30
)

// cut shortens a text to at most n bytes without splitting a character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const more = "..."
	end := n - len(more)
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + more
}
