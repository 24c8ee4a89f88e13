package observation

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/machines/cephupgrade"
)

// Ready reports whether the pod is ready.
func Ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// StartedAt returns when the process in the pod started; zero if none runs.
func StartedAt(pod *corev1.Pod) time.Time { return Process(pod).StartedAt }

// Process returns what runs in the pod. It has no start if nothing does.
func Process(pod *corev1.Pod) cephupgrade.Process {
	p := cephupgrade.Process{Pod: pod.Name}
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if p.Restarted = p.Restarted || status.RestartCount > 0; status.State.Running != nil {
			p.StartedAt = status.State.Running.StartedAt.Time
		}
	}
	return p
}
