package podset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/restarting"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	"github.com/detent-dev/detent/machines"
)

// show writes the status if it changed, with the error that prevents the creation of pods. It postpones the write while a restart
// is replacing an entry, to avoid a conflict with that write. It returns the delay until it can write.
func (r *Reconciler) show(ctx context.Context, set *corev1beta2.StrimziPodSet, f *findings, trouble error) (time.Duration, error) {
	next := set.Status
	next.ObservedGeneration, next.Pods, next.ReadyPods, next.CurrentPods = set.Generation, f.pods, f.ready, f.current
	next.Conditions = r.conditions(set, trouble)
	s := &set.Status
	if slices.Equal(s.Conditions, next.Conditions) && s.ObservedGeneration == next.ObservedGeneration && s.Pods == next.Pods && s.ReadyPods == next.ReadyPods && s.CurrentPods == next.CurrentPods {
		return 0, nil
	}
	if mark, ok := restarting.Of(set); ok && mark.Left(r.Clock.Now()) > 0 {
		return mark.Left(r.Clock.Now()), nil
	}
	changed := set.DeepCopy()
	changed.Status = next
	if err := r.Client.Status().Update(ctx, changed); err != nil {
		return 0, fmt.Errorf("writing the status: %w", err)
	}
	return 0, nil
}

// Lengths of a condition's message. Every pod that cannot be created has a line, since a node whose line is missing is taken for one that
// is about to start: the lines share longestMessage, and none gets less than shortestLine, which holds the names of the pod and the start of
// the cause. The API server takes messages of 32,768 bytes.
const (
	longestMessage = 1024
	shortestLine   = 240
	mostLines      = 130
)

// message returns the text of the trouble, a line for each error.
func message(trouble error) string {
	all := flat(trouble)
	lines := all[:min(len(all), mostLines)]
	for i, line := range lines {
		lines[i] = machines.Cut(line, max(shortestLine, longestMessage/len(all)))
	}
	if left := len(all) - len(lines); left > 0 {
		lines = append(lines, fmt.Sprintf("%s%d more", corev1beta2.PodsMadeMore, left))
	}
	return strings.Join(lines, "\n")
}

// flat returns the texts of the joined errors.
func flat(err error) []string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	var out []string
	for _, e := range joined.Unwrap() {
		out = append(out, flat(e)...)
	}
	return out
}

// conditions returns the conditions of the set: one while pods cannot be created.
func (r *Reconciler) conditions(set *corev1beta2.StrimziPodSet, trouble error) []metav1.Condition {
	if trouble == nil {
		return nil
	}
	c := metav1.Condition{
		Type: corev1beta2.PodsMade, Status: metav1.ConditionFalse, Reason: "Refused", Message: message(trouble), ObservedGeneration: set.Generation,
		LastTransitionTime: metav1.NewTime(r.Clock.Now().UTC().Truncate(time.Second)),
	}
	for _, old := range set.Status.Conditions {
		if old.Type == c.Type && old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
	}
	return []metav1.Condition{c}
}
