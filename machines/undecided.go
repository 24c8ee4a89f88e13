package machines

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/transitions"
)

// unknownDeadline is how long a Rest or Hold may have an unknown guard before it is Stalled.
const unknownDeadline = 10 * time.Minute

// targetGuard is the name under which waitingFor shows a target that cannot be read.
const targetGuard = "target"

// undecided sets on the entry of a Rest or Hold which guards cannot be evaluated and why, since when, and the deadline after
// which the lifecycle is Stalled. A Work or Wait state has its own waitingFor and deadline. A pending answer changes nothing.
func (l *evaluation[F, D, FX, E]) undecided(out *lifecyclev1.Lifecycle, n *node[F, D, FX], data D) {
	if !n.Resting() {
		return
	}
	unknown, pending := l.unknown(n, data)
	switch {
	case len(unknown) > 0:
		for _, b := range unknown {
			listed := slices.ContainsFunc(out.WaitingFor, func(w lifecyclev1.WaitingFor) bool { return w.Guard == Cut(b.Guard, maxName) })
			if !listed && len(out.WaitingFor) < maxWaiting {
				out.WaitingFor = append(slices.Clip(out.WaitingFor), waitingFor(b))
			}
		}
		if out.UnknownSince == nil {
			since := metav1.NewTime(l.now.Truncate(time.Second))
			out.UnknownSince, out.Deadline = &since, nil
		}
		if out.Deadline == nil {
			since := l.notLaterThanNow(*out.UnknownSince)
			out.Deadline = l.stretched(since, since.Add(unknownDeadline))
		}
	case pending && out.UnknownSince != nil:
		out.WaitingFor = l.entry.WaitingFor
	case out.UnknownSince != nil:
		out.UnknownSince, out.Deadline = nil, nil
	}
}

// unknown returns what prevents a decision in the state: the guards that choose finds unknown, and the target. pending reports
// that an answer has not arrived yet.
func (l *evaluation[F, D, FX, E]) unknown(n *node[F, D, FX], data D) (out []transitions.Blocker, pending bool) {
	target := l.target()
	if move, _ := l.choose(n, data, target); move != nil {
		return nil, false
	}
	blocked := false
	for i := range n.rows {
		row := &n.rows[i]
		if blocked && !row.EvenIfUnknown {
			continue
		}
		if verdict, _ := l.verdict(row, data); verdict.Answer != transitions.Unknown {
			continue
		}
		blocked = true
		for _, b := range l.blockers(row, data) {
			pending = pending || b.Pending
			if b.Answer == transitions.Unknown && !b.Pending {
				out = append(out, b)
			}
		}
	}
	if target.Unknown && !blocked {
		out = append(out, transitions.Blocker{Guard: targetGuard, Verdict: transitions.Verdict{
			Expected: "a target that can be read", Observed: "what is observed does not say what the target is",
		}})
	}
	return out, pending
}
