package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/machines"
)

// PauseAnnotation pauses an object of any kind while its value is not "false". A kind may have further annotations of the same effect:
// Kind.PauseAnnotations.
const PauseAnnotation = "detent.dev/pause"

// IsPaused reports whether PauseAnnotation or one of the kind's own annotations pauses the object.
func IsPaused(object client.Object, own ...string) bool { return pausedBy(object, own) != "" }

// pausedBy returns the annotation that pauses the object, or none. A value that is neither true nor false pauses: who wrote it believes that
// nothing is changed. An annotation that is true comes first.
func pausedBy(object client.Object, own []string) (name string) {
	for _, a := range append([]string{PauseAnnotation}, own...) {
		value, set := object.GetAnnotations()[a]
		switch on, valid := ParseFlag(value); {
		case on:
			return a
		case set && !valid && name == "":
			name = a
		}
	}
	return name
}

// maxValue is how many bytes of the value of an annotation are shown.
const maxValue = 64

// pauseCondition says which annotation pauses the object.
func pauseCondition(object client.Object, own []string) (reason, message string) {
	name := pausedBy(object, own)
	value := object.GetAnnotations()[name]
	if _, valid := ParseFlag(value); !valid {
		return "InvalidAnnotation", fmt.Sprintf("the annotation %s is %q, neither true nor false, and is taken for a pause: lost children are still repaired. Write true to keep the pause, or remove the annotation to resume",
			name, machines.Cut(value, maxValue))
	}
	return "Annotation", "lifecycles are paused; lost children are still repaired. Remove the annotation to resume"
}

// resumed reports whether the object shows a pause that has ended.
func resumed(object Object) bool {
	return meta.IsStatusConditionTrue(object.LifecycleStatus().Conditions, Paused)
}

// repairOnly repairs children on a snapshot without costly facts.
func (p *reconcileScope[O, S, E]) repairOnly(ctx context.Context) error {
	if p.kind.Repair == nil {
		return nil
	}
	snapshot, err := p.observe(ctx, nil, false)
	if err == nil {
		p.repair(ctx, snapshot, p.writer())
	}
	return err
}

// pause stops transitions and actions, but not the repair of children. It sets the condition Paused and changes no other status
// field.
func (p *reconcileScope[O, S, E]) pause(ctx context.Context) (time.Duration, error) {
	p.metrics.pause(p.memory, p.kind.Name, p.object)
	failure := p.repairOnly(ctx)
	reason, message := pauseCondition(p.object, p.kind.PauseAnnotations)
	if shown := meta.FindStatusCondition(p.in.Status.Conditions, Paused); !resumed(p.object) || shown.Reason != reason || shown.Message != message {
		next := p.copy()
		status := next.LifecycleStatus()
		others := slices.DeleteFunc(slices.Clone(status.Conditions), func(c metav1.Condition) bool { return c.Type == Paused })
		others = append(others, metav1.Condition{
			Type: Paused, Status: metav1.ConditionTrue, Reason: reason, ObservedGeneration: status.ObservedGeneration,
			Message: message, LastTransitionTime: metav1.NewTime(p.now.Truncate(time.Second)),
		})
		status.Conditions = settle(others, p.in.Status.Conditions, status.ObservedGeneration, p.now)
		return freshnessRequeue, p.write(ctx, next)
	}
	if failure != nil {
		return 0, failure
	}
	p.requeue.after(p.scaled(p.kind.Resync))
	return p.requeue.soonest, nil
}

// resume removes the condition Paused and extends the deadlines by the duration of the pause, in one write. It repairs children
// first, because the write may be rejected.
func (p *reconcileScope[O, S, E]) resume(ctx context.Context) (time.Duration, error) {
	failure := p.repairOnly(ctx)
	next := p.copy()
	status := next.LifecycleStatus()
	away := time.Duration(0)
	if c := meta.FindStatusCondition(status.Conditions, Paused); c != nil {
		away = max(0, p.now.Sub(c.LastTransitionTime.Time)) // a clock that was set back must not bring deadlines forward
	}
	meta.RemoveStatusCondition(&status.Conditions, Paused)
	for i := range status.Lifecycles {
		if d := status.Lifecycles[i].Deadline; d != nil {
			moved := metav1.NewTime(machines.Storable(d.Add(away)))
			status.Lifecycles[i].Deadline = &moved
		}
	}
	if err := p.write(ctx, next); err != nil {
		return 0, errors.Join(err, failure)
	}
	return freshnessRequeue, nil
}
