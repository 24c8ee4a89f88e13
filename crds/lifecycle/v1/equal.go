package v1

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Equal reports whether two statuses are equal. It avoids reflection, which would take half the time of a reconcile at rest.
func (s *Status) Equal(o *Status) bool {
	return s.ObservedGeneration == o.ObservedGeneration &&
		slices.EqualFunc(s.Conditions, o.Conditions, equalCondition) &&
		slices.EqualFunc(s.Lifecycles, o.Lifecycles, equalLifecycle) &&
		equalPointer(s.Summary, o.Summary, equalSummary)
}

func equalPointer[T any](a, b *T, equal func(a, b T) bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return equal(*a, *b)
}

func equalCondition(a, b metav1.Condition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message &&
		a.ObservedGeneration == b.ObservedGeneration && a.LastTransitionTime.Equal(&b.LastTransitionTime)
}

func equalLifecycle(a, b Lifecycle) bool {
	return a.Name == b.Name && a.Machine == b.Machine && a.State == b.State && a.EnteredAt.Equal(&b.EnteredAt) &&
		equalPointer(a.Attempt, b.Attempt, equalAttempt) && maps.Equal(a.Data, b.Data) &&
		equalPointer(a.Progress, b.Progress, func(a, b Progress) bool { return a == b }) &&
		slices.Equal(a.WaitingFor, b.WaitingFor) && a.Deadline.Equal(b.Deadline) && a.UnknownSince.Equal(b.UnknownSince) &&
		a.TransitionsSinceProgress == b.TransitionsSinceProgress && a.Transitions == b.Transitions &&
		slices.EqualFunc(a.History, b.History, equalTransition)
}

func equalAttempt(a, b Attempt) bool {
	return a.ID == b.ID && a.From == b.From && a.To == b.To && a.StartedAt.Equal(&b.StartedAt)
}

func equalTransition(a, b Transition) bool {
	return a.At.Equal(&b.At) && a.Event == b.Event && a.From == b.From && a.To == b.To && a.Attempt == b.Attempt && a.Times == b.Times
}

func equalSummary(a, b Summary) bool {
	return a.Lifecycle == b.Lifecycle && a.State == b.State && a.Since.Equal(&b.Since) && a.Progress == b.Progress
}
