package podset

import (
	"context"
	"fmt"
	"time"

	"github.com/detent-dev/detent/controllers/kafka/restarting"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

// show writes the status if it changed. While a restart is in the middle of switching an entry the status waits, so that it does not
// come in between.
// It returns when to look again for that.
func (r *Reconciler) show(ctx context.Context, set *corev1beta2.StrimziPodSet, f *findings) (time.Duration, error) {
	next := set.Status
	next.ObservedGeneration, next.Pods, next.ReadyPods, next.CurrentPods = set.Generation, f.pods, f.ready, f.current
	s := &set.Status
	if s.ObservedGeneration == next.ObservedGeneration && s.Pods == next.Pods && s.ReadyPods == next.ReadyPods && s.CurrentPods == next.CurrentPods {
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
