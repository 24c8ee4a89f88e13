package podset

import (
	"context"
	"errors"
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
	next.Conditions, next.RefusedPods = r.conditions(set, trouble), refused(trouble)
	s := &set.Status
	if slices.Equal(s.Conditions, next.Conditions) && slices.Equal(s.RefusedPods, next.RefusedPods) && s.ObservedGeneration == next.ObservedGeneration && s.Pods == next.Pods && s.ReadyPods == next.ReadyPods && s.CurrentPods == next.CurrentPods {
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

// Lengths of messages. Every pod that cannot be created has a line in the message of the condition: the lines share longestMessage, and none
// gets less than shortestLine, which holds the names of the pod and the start of the cause. The API server takes messages of 32,768 bytes.
const (
	longestMessage = 1024
	shortestLine   = 240
	mostLines      = 130
)

// message returns the text of the trouble, a line for each error.
func message(trouble error) string {
	all := flat(trouble)
	var lines []string
	for _, err := range all[:min(len(all), mostLines)] {
		lines = append(lines, machines.Cut(err.Error(), lineLength(len(all))))
	}
	if left := len(all) - len(lines); left > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", left))
	}
	return strings.Join(lines, "\n")
}

// refused returns the pods that could not be created. Those without a line in the message of the condition have no message.
func refused(trouble error) []corev1beta2.RefusedPod {
	all := flat(trouble)
	var out []corev1beta2.RefusedPod
	for i, err := range all {
		r, is := errors.AsType[refusal](err)
		if !is {
			continue
		}
		pod := corev1beta2.RefusedPod{Name: r.pod}
		if i < mostLines {
			pod.Message = machines.Cut(r.cause(), lineLength(len(all)))
		}
		out = append(out, pod)
	}
	return out
}

// lineLength is how long the line of one of n errors may be.
func lineLength(n int) int { return max(shortestLine, longestMessage/n) }

// cause returns the text of the error without what precedes the name of the pod, which is shown beside it.
func (r refusal) cause() string {
	if _, after, found := strings.Cut(r.Error(), "/"+r.pod+": "); found {
		return after
	}
	return r.Error()
}

// flat returns the joined errors; none of nil.
func flat(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
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
