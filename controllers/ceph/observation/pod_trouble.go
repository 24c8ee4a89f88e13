package observation

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/transitions"
)

// noNode is why the pod that detects a version is not scheduled. It may run on every node on which monitors may.
const noNode = "no node takes the pod that detects it: check spec.placement, and whether nodes are cordoned, tainted or have no room"

// noPod is why a Job does nothing.
func noPod(job *batchv1.Job) string {
	return "no pod of the Job " + job.Name + " was created: see its events, such as of a quota or of Pod Security"
}

// slowPod is how long a Job may be without a pod.
const slowPod = 10 * time.Second

// podless reports whether a Job has had no pod for longer than it takes to create one.
func podless(job *batchv1.Job, pod *corev1.Pod, now time.Time) bool {
	return job != nil && pod == nil && job.Status.Failed == 0 && now.Sub(job.CreationTimestamp.Time) > slowPod
}

// placed reports whether a node takes the pod.
func placed(pod *corev1.Pod) bool { return !slices.ContainsFunc(pod.Status.Conditions, unschedulable) }

// interrupted reports whether the pod that detects was ended from outside. Its Job is deleted after a while, and made again.
func interrupted(d *Detection) bool { return killed(d.Pod) || rejected(d.Pod) != "" }

// rejected is the reason for which the kubelet ended a pod or never started its container, such as Evicted, OutOfcpu or NodeAffinity; empty if it
// did not.
func rejected(pod *corev1.Pod) string {
	if pod == nil || pod.Status.Reason != podEvicted && (pod.Status.Phase != corev1.PodFailed || len(pod.Status.ContainerStatuses) > 0) {
		return ""
	}
	return pod.Status.Reason
}

// podEvicted is the reason of a pod that the kubelet ended for the resources of its node.
const podEvicted = "Evicted"

// interruption is how the pod that detects was ended from outside, with what to do if that would happen again.
func interruption(d *Detection) string {
	const again = ": the detection is repeated within ten minutes"
	if killed(d.Pod) && d.Pod.Status.ContainerStatuses[0].State.Terminated.Reason == "OOMKilled" {
		return "the pod that detects it needs more memory than its limit or its node has (OOMKilled): raise the default limit of the LimitRange of the namespace, if it has one" + again
	}
	if why := rejected(d.Pod); why != "" {
		return "its node rejected or evicted the pod that detects it (" + why + ")" + again
	}
	return "the pod that detects it was ended" + again
}

// delayOf is why the container of a pod does not run; nil if nothing delays it.
func delayOf(pod *corev1.Pod) *transitions.Problem {
	reason := transitions.Reason(waiting(pod))
	switch reason {
	case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull": // the first two alternate
		return transitions.Problemf(reason, "the image cannot be pulled: check its name, and that the nodes may pull it")
	case "InvalidImageName":
		return transitions.Problemf(reason, "the name of the image is invalid")
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		return transitions.Problemf(reason, "its container cannot be created")
	}
	return nil
}

// Unpullable reports whether a container waits for the reason that its image cannot be pulled.
func Unpullable(reason string) bool {
	return slices.Contains([]string{"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"}, reason)
}

// ended returns the status of the container that detects, once it has ended by itself. One that was killed says nothing of its image.
func ended(pod *corev1.Pod) *corev1.ContainerStatus {
	if pod == nil || len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].State.Terminated == nil || killed(pod) {
		return nil
	}
	return &pod.Status.ContainerStatuses[0]
}

// Exit codes of a container whose process was ended by a signal from outside. A process that crashes ends with others, such as 139.
const (
	endedByKill      = 137
	endedByTerminate = 143
)

// killed reports whether the container was ended from outside, by the end of its pod or for its memory, before it printed a version.
func killed(pod *corev1.Pod) bool {
	if pod == nil || len(pod.Status.ContainerStatuses) == 0 {
		return false
	}
	t := pod.Status.ContainerStatuses[0].State.Terminated
	return t != nil && (t.ExitCode == endedByKill || t.ExitCode == endedByTerminate) && t.Message == ""
}

// pulling is why the container waits.
func pulling(pod *corev1.Pod) string {
	if reason := waiting(pod); reason != "" {
		return " (" + reason + ")"
	}
	return ""
}

// waiting is the reason for which the container does not run yet.
func waiting(pod *corev1.Pod) string {
	if pod == nil || len(pod.Status.ContainerStatuses) == 0 || pod.Status.ContainerStatuses[0].State.Waiting == nil {
		return ""
	}
	return pod.Status.ContainerStatuses[0].State.Waiting.Reason
}
