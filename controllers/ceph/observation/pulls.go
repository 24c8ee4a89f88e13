package observation

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/transitions"
)

// Pull is a Job that pulls an image to a node, with its pod.
type Pull struct {
	Job *batchv1.Job
	Pod *corev1.Pod
}

// PullFailed is the reason of an image that is not on a node yet, because the Job that pulls it failed.
const PullFailed transitions.Reason = "PullFailed"

// Pulled reports whether an image is on a node, by the end of the Job with the id, and otherwise what delays that; nil if nothing is known to. Its
// pod is scheduled as the daemons of a type are.
func (s *Snapshot) Pulled(id string, like ceph.Type) (done bool, delay *transitions.Problem) {
	p := s.Pulls[id]
	if p.Job == nil {
		return false, nil
	}
	if end := ended(p.Pod); p.Job.Status.Succeeded > 0 || end != nil && end.State.Terminated.ExitCode == 0 {
		return true, nil
	}
	failed := slices.ContainsFunc(p.Job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue
	})
	if failed {
		return false, transitions.Problemf(PullFailed, "that failed, and is tried again")
	}
	if podless(p.Job, p.Pod, s.Now) {
		return false, &transitions.Problem{Reason: PodNotCreated, Message: noPod(p.Job)}
	}
	if p.Pod != nil && !placed(p.Pod) {
		return false, transitions.Problemf(PodNotScheduled, "the node takes no pod: check whether it is cordoned, has no room, or has taints that spec.placement.%s.tolerations does not tolerate", like)
	}
	return false, delayOf(p.Pod)
}

func unschedulable(c corev1.PodCondition) bool {
	return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
}
