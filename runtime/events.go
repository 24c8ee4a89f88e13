package runtime

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
)

// project calls the kind's Project, which sets the kind's status fields and returns its conditions. After a panic there the object is not
// Ready: what the kind would have said about that is not known.
func (p *reconcileScope[O, S, E]) project(ctx context.Context, next O, snapshot S) (own []metav1.Condition) {
	if p.kind.Project == nil {
		return nil
	}
	err := guarded(ctx, "projecting", func() error {
		own = p.kind.Project(next, snapshot, ProjectRequest{Now: p.now, Applied: p.applied()})
		return nil
	})
	if err != nil {
		p.metrics.defect(p.kind.Name)
		return []metav1.Condition{
			{Type: Ready, Status: metav1.ConditionFalse, Reason: Defect, Message: err.Error()},
			{Type: Warning, Status: metav1.ConditionTrue, Reason: Defect, Message: err.Error()},
		}
	}
	return own
}

// announce reports a committed transition: one event, one log line, and the metrics. A quiet transition has no event, and of a loop
// without progress only every repetition that is a power of two has. It is called after the status write succeeded.
func (p *reconcileScope[O, S, E]) announce(ctx context.Context, object O, moved *pass.Moved) {
	move, entry := &moved.Move, &moved.Entry
	state, _ := pass.Find(p.in.Lifecycles, moved.Lifecycle).State(move.To)
	attempt := ""
	if entry.Attempt != nil {
		attempt = entry.Attempt.ID
	}
	log.FromContext(ctx).Info("transition", "lifecycle", moved.Lifecycle, "machine", entry.Machine, "event", move.Event,
		"from", move.From, "to", move.To, "attempt", attempt, "data", entry.Data, "generation", p.in.Generation, "waitingFor", entry.WaitingFor)
	var spent time.Duration
	if old := p.entries.Find(moved.Lifecycle); old != nil {
		spent = p.now.Sub(old.EnteredAt.Time)
	}
	p.metrics.transition(p.kind.Name, entry.Machine, move, spent)
	times, said := repetition(entry)
	if p.events == nil || move.Quiet || !said {
		return
	}
	severity := corev1.EventTypeNormal
	if state.Kind == states.Hold && state.HoldReason != states.Planned {
		severity = corev1.EventTypeWarning
	}
	p.events.Eventf(object, nil, severity, "Entered"+move.To, move.Event, "%s", note(moved, state, times))
}

// loopTransitions is the number of transitions without progress from which a loop is folded. It is twice the longest loop that the
// history folds, so that a roll, which makes progress in each round, is never folded.
const loopTransitions = 16

// repetition returns how often a loop that makes no progress took the entry's last transition, or 0 outside such a loop, and
// whether an event reports this time.
func repetition(entry *lifecyclev1.Lifecycle) (times int32, said bool) {
	if entry.TransitionsSinceProgress <= loopTransitions || len(entry.History) == 0 {
		return 0, true
	}
	last := &entry.History[len(entry.History)-1]
	for i := range entry.History {
		h := &entry.History[i]
		if h.Event == last.Event && h.From == last.From && h.To == last.To && h.Attempt == last.Attempt {
			times += max(h.Times, 1)
		}
	}
	return times, times&(times-1) == 0
}

func note(moved *pass.Moved, state states.State, times int32) string {
	s := lifecycleState{name: moved.Lifecycle, entry: &moved.Entry, state: state, known: true}
	from := moved.Move.From
	if from == "" {
		from = "the start"
	}
	text := fmt.Sprintf("%s from %s: %s", moved.Move.Event, from, s.message())
	if moved.Move.Event == machines.EventInferred && moved.Move.From != "" {
		text += " (the stored state did not agree with what was observed)"
	}
	if times > 1 {
		text += fmt.Sprintf(" (%d times without progress)", times)
	}
	return machines.Cut(text, maxNote)
}

// maxNote is the limit of the API for the note of an event, in bytes.
const maxNote = 1024

// refusal counts status writes that failed.
type refusal struct {
	// failures is the number of consecutive failures.
	failures int
	// text of the last event that reported them, and when it was sent.
	text string
	at   time.Time
}

const (
	// refusalPause is the minimum time between two events that report the same rejection.
	refusalPause = time.Minute
	// transientFailures is the number of consecutive failed writes from which a transient error, such as a server error, is
	// reported.
	transientFailures = 3
)

// refused counts a status write that failed and reports it in an event, because no condition can be written. A rejection by the
// API server is reported at once. Any other error is reported from the third consecutive failure on.
func (p *reconcileScope[O, S, E]) refused(object O, err error) {
	last := ensured(&p.memory.refusal)
	last.failures++
	if !rejected(err) && last.failures < transientFailures {
		return
	}
	p.metrics.refusedWrite(p.kind.Name)
	if last.text == err.Error() && p.now.Sub(last.at) < refusalPause {
		return
	}
	last.text, last.at = err.Error(), p.now
	if p.events != nil {
		p.events.Eventf(object, nil, corev1.EventTypeWarning, "StatusRefused", "write-status", "%s", machines.Cut(err.Error(), maxNote))
	}
}

// transient reports whether a failed request to the API server may succeed when it is repeated: after an outage, a time-out, or too much
// load. So may one that a stale cache caused: an object exists already, or does not any more. Of several failures all must be.
func transient(err error) bool {
	switch e := err.(type) { //nolint:errorlint // it goes down the tree itself
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(one error) bool { return !transient(one) })
	case apierrors.APIStatus:
		return !rejected(err) || apierrors.IsAlreadyExists(err) || ObjectMissing(err)
	case net.Error:
		return true
	}
	next := errors.Unwrap(err)
	return next != nil && transient(next)
}

// rejected reports whether the API server rejected the request, so that a retry of the same request would fail again.
func rejected(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsTooManyRequests(err) || apierrors.IsTimeout(err) {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}
