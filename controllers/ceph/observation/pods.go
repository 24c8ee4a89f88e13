package observation

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Ready reports whether the pod is ready.
func Ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// StartedAt returns when the process in the pod started; zero if none runs.
func StartedAt(pod *corev1.Pod) time.Time {
	for i := range pod.Status.ContainerStatuses {
		if r := pod.Status.ContainerStatuses[i].State.Running; r != nil {
			return r.StartedAt.Time
		}
	}
	return time.Time{}
}
