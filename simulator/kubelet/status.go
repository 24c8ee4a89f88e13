package kubelet

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Reasons that a kubelet sets. Source: pkg/kubelet of Kubernetes 1.34.
const (
	reasonCreating        = "ContainerCreating"
	reasonInitializing    = "PodInitializing"
	reasonErrImagePull    = "ErrImagePull"
	reasonImageBackOff    = "ImagePullBackOff"
	reasonCrashLoop       = "CrashLoopBackOff"
	reasonError           = "Error"
	reasonCompleted       = "Completed"
	reasonNotReady        = "ContainersNotReady"
	reasonNotInitialized  = "ContainersNotInitialized"
	reasonGatesNotReady   = "ReadinessGatesNotReady"
	reasonPodFailed       = "PodFailed"
	terminationMessageMax = 2048
)

// mainContainer returns the name of the container with the simulated program: kafka,
// otherwise the first.
func mainContainer(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == "kafka" {
			return "kafka"
		}
	}
	if len(pod.Spec.Containers) == 0 {
		return ""
	}
	return pod.Spec.Containers[0].Name
}

// status returns the pod's desired status. It keeps fields and conditions of other writers.
func (v *visit) status() corev1.PodStatus {
	status := *v.Pod.Status.DeepCopy()
	p := v.p
	if p.Step == Unscheduled || p.Step == Bound {
		if p.Problem != "" {
			v.set(&status, corev1.PodScheduled, false, corev1.PodReasonUnschedulable, p.Problem)
		}
		return status
	}
	status.Phase = v.phase()
	if status.StartTime == nil {
		since := v.Timeline.stamp(p.Since)
		status.StartTime = &since
	}
	v.address(&status)
	status.InitContainerStatuses = v.initContainers()
	status.ContainerStatuses = v.containers()
	v.conditions(&status)
	return status
}

func (v *visit) phase() corev1.PodPhase {
	switch {
	case v.p.Step == Stopped:
		return corev1.PodFailed
	case v.p.StartedAt > 0:
		return corev1.PodRunning
	default:
		return corev1.PodPending
	}
}

// address sets the addresses: nodes in 172.18.0.0/24 and pods in 10.244.0.0/16. No process
// listens there.
func (v *visit) address(status *corev1.PodStatus) {
	status.HostIP = NodeAddress(v.p.Node)
	status.HostIPs = []corev1.HostIP{{IP: status.HostIP}}
	if v.p.Step == Creating && v.p.StartedAt == 0 {
		return
	}
	sum := hash(string(v.p.UID))
	status.PodIP = fmt.Sprintf("10.244.%d.%d", sum>>8&0xff, sum&0xff)
	status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
}

// NodeAddress is the address that a simulated node reports.
func NodeAddress(name string) string { return fmt.Sprintf("172.18.0.%d", 2+hash(name)%250) }

func hash(text string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum32()
}

func (v *visit) conditions(status *corev1.PodStatus) {
	p := v.p
	v.set(status, corev1.PodScheduled, true, "", "")
	v.set(status, corev1.PodReadyToStartContainers, p.Step != Creating && p.Step != Stopped, "", "")
	if p.Initialized || len(v.Pod.Spec.InitContainers) == 0 {
		v.set(status, corev1.PodInitialized, true, "", "")
	} else {
		v.set(status, corev1.PodInitialized, false, reasonNotInitialized, "containers with incomplete status: ["+v.current()+"]")
	}
	var unready []string
	for i := range status.ContainerStatuses {
		if c := &status.ContainerStatuses[i]; !c.Ready {
			unready = append(unready, c.Name)
		}
	}
	reason, message := "", ""
	switch {
	case p.Step == Stopped:
		reason = reasonPodFailed
	case len(unready) > 0:
		reason, message = reasonNotReady, "containers with unready status: ["+strings.Join(unready, " ")+"]"
	}
	v.set(status, corev1.ContainersReady, reason == "", reason, message)
	if gates := v.closedGates(status); reason == "" && gates != "" {
		reason, message = reasonGatesNotReady, gates
	}
	v.set(status, corev1.PodReady, reason == "", reason, message)
}

func (v *visit) closedGates(status *corev1.PodStatus) string {
	var closed []string
	for _, gate := range v.Pod.Spec.ReadinessGates {
		i := slices.IndexFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == gate.ConditionType })
		switch {
		case i < 0:
			closed = append(closed, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType))
		case status.Conditions[i].Status != corev1.ConditionTrue:
			closed = append(closed, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %s", gate.ConditionType, status.Conditions[i].Status))
		}
	}
	return strings.Join(closed, ", ")
}

// set sets a condition. LastTransitionTime changes only with the status of the condition.
func (v *visit) set(status *corev1.PodStatus, kind corev1.PodConditionType, yes bool, reason, message string) {
	next := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: v.Timeline.stamp(v.Now)}
	if yes {
		next.Status = corev1.ConditionTrue
	}
	for i := range status.Conditions {
		if old := &status.Conditions[i]; old.Type == kind {
			next.LastProbeTime, next.ObservedGeneration = old.LastProbeTime, old.ObservedGeneration
			if old.Status == next.Status {
				next.LastTransitionTime = old.LastTransitionTime
			}
			*old = next
			return
		}
	}
	status.Conditions = append(status.Conditions, next)
}

// terminated converts an exit to the state in a container status.
func (v *visit) terminated(c *corev1.Container, exit Exit) *corev1.ContainerStateTerminated {
	t := &corev1.ContainerStateTerminated{
		ExitCode: exit.Code, Reason: reasonError, ContainerID: v.containerID(c.Name, exit.StartedAt),
		StartedAt: v.Timeline.stamp(exit.StartedAt), FinishedAt: v.Timeline.stamp(exit.At),
	}
	if exit.Code == 0 {
		t.Reason = reasonCompleted
	} else if c.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError {
		t.Message = strings.ToValidUTF8(exit.Words[max(0, len(exit.Words)-terminationMessageMax):], "")
	}
	return t
}

func (v *visit) containerID(container string, started int64) string {
	return fmt.Sprintf("simulated://%08x%08x", hash(string(v.p.UID)+container), started)
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func (v *visit) running(since int64) corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: v.Timeline.stamp(since)}}
}

// backingOff is the state of a container in a back-off.
func (v *visit) backingOff(name string) corev1.ContainerState {
	pause := time.Duration(backOff(v.p.Failures-1)) * time.Millisecond
	return waiting(reasonCrashLoop, fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)", pause, name, v.p.Name, v.p.Namespace, v.p.UID))
}

func (v *visit) pulling(image string) (corev1.ContainerState, bool) {
	switch {
	case v.p.Step != PullBackOff || image != v.p.BadImage:
		return corev1.ContainerState{}, false
	case v.p.PullFailed:
		return waiting(reasonErrImagePull, v.p.Problem), true
	default:
		return waiting(reasonImageBackOff, fmt.Sprintf("Back-off pulling image %q: %s: %s", image, reasonErrImagePull, v.p.Problem)), true
	}
}
