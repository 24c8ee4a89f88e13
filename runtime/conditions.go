package runtime

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
)

// Condition types that the runtime computes. Ready, Reconciling and Stalled follow kstatus: Reconciling and Stalled are never
// both True.
const (
	Ready            = "Ready"
	Reconciling      = "Reconciling"
	Stalled          = "Stalled"
	Paused           = "Paused"
	AwaitingApproval = "AwaitingApproval"
	Warning          = "Warning"
)

// lifecycleState is the stored entry of a lifecycle with the state that its machine declares.
type lifecycleState struct {
	name                          string
	entry                         *lifecyclev1.Lifecycle
	state                         states.State
	known                         bool
	maxTransitionsWithoutProgress int32
	// defect of the machine, because of which the lifecycle takes no transition; nil if there is none.
	defect error
	// unlisted is why it is not known which instances of the lifecycle there are; empty if it is, or no reason is.
	unlisted string
	// tooFrequent means that the lifecycle has used up its allowance of transitions.
	tooFrequent bool
}

func lifecycleStates[O Object, S, E any](lifecycles []machines.Evaluator[O, S, E], status *lifecyclev1.Status) []lifecycleState {
	out, entries := make([]lifecycleState, 0, len(lifecycles)), pass.EntriesOf(status)
	for _, lc := range lifecycles {
		s := lifecycleState{name: lc.Name(), maxTransitionsWithoutProgress: lc.MaxTransitionsWithoutProgress()}
		if s.entry = entries.Find(s.name); s.entry != nil {
			s.state, s.known = lc.State(s.entry.State)
		}
		out = append(out, s)
	}
	return out
}

// conditions computes the conditions from the stored entries of all lifecycles, never from the decision of one reconcile. One
// lifecycle can therefore not set Ready while another is under way. The worst lifecycle determines Ready, Reconciling and
// Stalled. Ready is not True before every lifecycle has evaluated the object's generation.
func conditions(all []lifecycleState, own, old []metav1.Condition, generation, observed int64, now time.Time) []metav1.Condition {
	worst, stalled, isStalled := judge(all, now)
	text := ""
	if worst != nil {
		text = worst.message() + othersUnderWay(all, worst)
		if worst.entry == nil && worst.defect == nil { // it has no message of its own: a read that failed is shown by the lifecycles that have an entry
			text += unknown(all)
		}
	}
	ready := metav1.Condition{Type: Ready, Status: metav1.ConditionTrue, Reason: "Settled", Message: "no lifecycle is under way"}
	reconciling := metav1.Condition{Type: Reconciling, Status: metav1.ConditionFalse, Reason: "Settled"}
	stuck := metav1.Condition{Type: Stalled, Status: metav1.ConditionFalse, Reason: "WithinDeadline"}
	switch {
	case worst == nil && observed != generation:
		ready.Status, ready.Reason = metav1.ConditionFalse, "Deciding"
		ready.Message = fmt.Sprintf("generation %d has not been decided upon by every lifecycle yet", generation) + unknown(all)
		reconciling.Status, reconciling.Reason, reconciling.Message = metav1.ConditionTrue, ready.Reason, ready.Message
	case worst == nil:
		ready.Message += unknown(all)
	case isStalled:
		ready = metav1.Condition{Type: Ready, Status: metav1.ConditionFalse, Reason: worst.reason(), Message: text}
		stuck = metav1.Condition{Type: Stalled, Status: metav1.ConditionTrue, Reason: stalled, Message: text}
		reconciling.Reason = stalled
	default:
		ready = metav1.Condition{Type: Ready, Status: metav1.ConditionFalse, Reason: worst.reason(), Message: text}
		reconciling = metav1.Condition{Type: Reconciling, Status: metav1.ConditionTrue, Reason: worst.reason(), Message: text}
	}
	out := []metav1.Condition{ready, reconciling, stuck}
	for i := range all {
		out = append(out, all[i].advice()...)
	}
	return settle(overlay(out, own), old, observed, now)
}

// unknown returns why the first lifecycle that cannot evaluate a guard at rest cannot, and how many more cannot, as a suffix of a message.
func unknown(all []lifecycleState) string {
	text, more := "", 0
	for i := range all {
		switch {
		case !all[i].undecided():
		case text == "":
			text = "; " + all[i].message()
		default:
			more++
		}
	}
	if more > 0 {
		text += fmt.Sprintf("; %d more cannot decide", more)
	}
	return text
}

// judge returns the worst lifecycle and, if it is stalled, the reason of Stalled.
func judge(all []lifecycleState, now time.Time) (worst *lifecycleState, reason string, stalled bool) {
	for i := range all {
		s := &all[i]
		if reason, stalled := s.stalled(now); stalled {
			return s, reason, true
		}
		if worst == nil && s.busy() {
			worst = s
		}
	}
	return worst, "", false
}

func (s *lifecycleState) busy() bool {
	return s.entry == nil || !s.known || !s.state.Resting()
}

// stalled reports whether the lifecycle is stalled, and the reason of the condition.
func (s *lifecycleState) stalled(now time.Time) (reason string, stalled bool) {
	switch {
	case s.defect != nil:
		return s.reason(), true
	case s.entry == nil && s.tooFrequent:
		return TransitionsTooFrequent, true
	case s.entry == nil:
		return "", false
	case !s.known:
		return "UnknownState", true
	case s.state.Kind == states.Hold && s.state.HoldReason == states.Refusal:
		return s.state.Name, true
	case s.tooFrequent:
		return TransitionsTooFrequent, true
	case s.state.Resting() && !s.undecided():
		return "", false
	case s.entry.Deadline != nil && !now.Before(s.entry.Deadline.Time):
		return "DeadlinePassed", true
	case s.entry.TransitionsSinceProgress > s.maxTransitionsWithoutProgress:
		return "NoProgress", true
	}
	return "", false
}

// undecided reports that a lifecycle in a Rest or Hold state cannot evaluate a guard.
func (s *lifecycleState) undecided() bool {
	return s.known && s.entry != nil && s.state.Resting() && s.entry.UnknownSince != nil
}

// OutcomeUnknown is the reason of Ready while a lifecycle at rest has been unable to evaluate a guard for longer than its
// deadline.
const OutcomeUnknown = "OutcomeUnknown"

// Defect is the reason of Ready while a machine is defective or the kind's status cannot be computed. In the first case it is the reason of
// Stalled as well, in the second that of a Warning.
const Defect = "Defect"

// InstancesNotManaged is the reason of Stalled while an object declares too many instances of a lifecycle, or some with names that are not
// valid. Those that are valid are reconciled, up to the limit.
const InstancesNotManaged = "InstancesNotManaged"

// isUnmanaged reports whether a lifecycle has instances that are not managed, rather than a defect.
func isUnmanaged(err error) bool {
	unmanaged := (*pass.UnmanagedInstances)(nil)
	return err != nil && errors.As(err, &unmanaged)
}

const tooFrequentMessage = "it moves again and again without making progress, so that it is slowed down to one transition per minute: " +
	"see in its history which transitions repeat, and what changes its target or its facts that often"

func (s *lifecycleState) reason() string {
	switch {
	case isUnmanaged(s.defect):
		return InstancesNotManaged
	case s.defect != nil:
		return Defect
	case s.tooFrequent:
		return TransitionsTooFrequent
	case s.entry == nil:
		return "NotObserved"
	case !s.known: // the name of an unknown state may not be a valid condition reason
		return "UnknownState"
	case s.undecided():
		return OutcomeUnknown
	}
	return s.entry.State
}

// message returns the attempt, what the lifecycle waits for and its progress. It contains no number that changes with time.
func (s *lifecycleState) message() string {
	if isUnmanaged(s.defect) {
		return machines.Cut(s.name+": "+s.defect.Error(), maxMessage)
	}
	if s.defect != nil {
		return machines.Cut(s.name+": the machine is defective and stays where it is: "+s.defect.Error(), maxMessage)
	}
	if s.tooFrequent {
		return machines.Cut(s.name+": "+tooFrequentMessage, maxMessage)
	}
	if s.entry == nil {
		if s.unlisted != "" {
			return machines.Cut(s.name+": its instances are not known: "+s.unlisted, maxMessage)
		}
		return s.name + ": not looked at yet"
	}
	if !s.known {
		return fmt.Sprintf("%s: state %q of machine %s is unknown to this release", s.name, s.entry.State, s.entry.Machine)
	}
	var b strings.Builder
	b.WriteString(s.name)
	if a := s.entry.Attempt; a != nil && a.To != "" {
		b.WriteString(" ")
		if a.From != "" && a.From != a.To {
			b.WriteString(a.From + " -> ")
		}
		b.WriteString(a.To)
	}
	b.WriteString(": ")
	if len(s.entry.WaitingFor) == 0 {
		b.WriteString(s.state.Doc)
	}
	for i, w := range s.entry.WaitingFor {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(w.Guard + ": ")
		if w.Observed == "" {
			b.WriteString("expected " + w.Expected)
		} else {
			b.WriteString(w.Observed)
		}
	}
	if p := s.entry.Progress; p != nil {
		fmt.Fprintf(&b, "; %d of %d %ss done", p.Done, p.Total, p.Unit)
	}
	return machines.Cut(b.String(), maxMessage)
}

// advice returns the condition of a Hold that refused nothing.
func (s *lifecycleState) advice() []metav1.Condition {
	if s.entry == nil || !s.known || s.state.Kind != states.Hold {
		return nil
	}
	switch s.state.HoldReason {
	case states.Planned:
		return []metav1.Condition{{Type: AwaitingApproval, Status: metav1.ConditionTrue, Reason: s.state.Name, Message: s.message()}}
	case states.Advice:
		return []metav1.Condition{{Type: Warning, Status: metav1.ConditionTrue, Reason: s.state.Name, Message: s.message()}}
	default:
		return nil
	}
}

// overlay adds the kind's conditions. Of Ready, Reconciling and Stalled a kind can only set Ready, and only from True to
// another status. A Warning of the kind replaces the advice of a machine with the same reason: the kind knows what to do.
func overlay(computed, own []metav1.Condition) []metav1.Condition {
	computed = slices.DeleteFunc(computed, func(advice metav1.Condition) bool {
		return advice.Type == Warning && slices.ContainsFunc(own, func(c metav1.Condition) bool { return c.Type == Warning && c.Reason == advice.Reason })
	})
	for _, c := range own {
		if c.Type != Ready && c.Type != Reconciling && c.Type != Stalled {
			computed = append(computed, c)
			continue
		}
		mine := meta.FindStatusCondition(computed, c.Type)
		if c.Type == Ready && mine.Status == metav1.ConditionTrue && c.Status != metav1.ConditionTrue {
			mine.Status, mine.Reason, mine.Message = c.Status, c.Reason, c.Message
		}
	}
	return computed
}

// settle sorts the conditions, keeps Paused, and changes a condition's transition time only if its status changed.
func settle(fresh, old []metav1.Condition, generation int64, now time.Time) []metav1.Condition {
	if paused := meta.FindStatusCondition(old, Paused); paused != nil && meta.FindStatusCondition(fresh, Paused) == nil {
		fresh = append(fresh, *paused)
	}
	for i := range fresh {
		c := &fresh[i]
		c.Message = machines.Cut(c.Message, maxMessage)
		c.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
		c.ObservedGeneration = generation
		for j := range old {
			if o := &old[j]; o.Type == c.Type && (c.Type != Warning || o.Reason == c.Reason) && o.Status == c.Status {
				c.LastTransitionTime = o.LastTransitionTime
			}
		}
	}
	slices.SortStableFunc(fresh, func(a, b metav1.Condition) int {
		if a.Type != b.Type {
			return strings.Compare(a.Type, b.Type)
		}
		return strings.Compare(a.Reason, b.Reason)
	})
	// Every type occurs once, Warning once per reason. Of two lifecycles with the same type and reason the first one's
	// condition is kept.
	fresh = slices.CompactFunc(fresh, func(a, b metav1.Condition) bool {
		return a.Type == b.Type && (a.Type != Warning || a.Reason == b.Reason)
	})
	if len(fresh) > maxConditions {
		fresh = fresh[:maxConditions]
	}
	return fresh
}

const (
	maxConditions = 32
	maxMessage    = 1536
)
