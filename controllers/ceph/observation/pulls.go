package observation

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/ceph/render"
)

// Pull is a Job that pulls an image to a node, with its pod.
type Pull struct {
	Job *batchv1.Job
	Pod *corev1.Pod
}

// Pulled reports whether an image is on a node, by the end of a Job, and otherwise what delays that; empty if nothing is known to.
func (s *Snapshot) Pulled(node, image string) (done bool, delay string) {
	p := s.Pulls[render.PullID(node, image)]
	if p.Job == nil {
		return false, ""
	}
	if end := ended(p.Pod); p.Job.Status.Succeeded > 0 || end != nil && end.State.Terminated.ExitCode == 0 {
		return true, ""
	}
	failed := slices.ContainsFunc(p.Job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue
	})
	if failed {
		return false, "that failed, and is tried again"
	}
	if podless(p.Job, p.Pod, s.Now) {
		return false, noPod(p.Job)
	}
	if p.Pod != nil && !placed(p.Pod) {
		return false, "the node takes no pod: check whether it is cordoned, or has no room"
	}
	return false, delayOf(p.Pod)
}

func unschedulable(c corev1.PodCondition) bool {
	return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
}
