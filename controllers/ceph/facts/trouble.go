package facts

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/transitions"
)

// Reasons for which a daemon does not start. Those that Kubernetes has a reason for have that, such as CrashLoopBackOff and Unschedulable.
const (
	// ReasonContainerFailed: a container said why it ended.
	ReasonContainerFailed transitions.Reason = "ContainerFailed"
	// ReasonOutOfMemory: a container needed more memory than its limit, or than its node has.
	ReasonOutOfMemory transitions.Reason = "OOMKilled"
	// ReasonScaledToZero and ReasonSeveralReplicas: an administrator changed the number of replicas of its Deployment.
	ReasonScaledToZero    transitions.Reason = "ScaledToZero"
	ReasonSeveralReplicas transitions.Reason = "SeveralReplicas"
	// ReasonPaused: an administrator paused its Deployment.
	ReasonPaused transitions.Reason = "DeploymentPaused"
	// ReasonPodNotEnding: its pod from before does not end.
	ReasonPodNotEnding transitions.Reason = "PodNotEnding"
	// ReasonPodFailed: its pod has ended for good, and Kubernetes gives no reason.
	ReasonPodFailed transitions.Reason = "PodFailed"
)

// Trouble is why a container of the pod does not start, what it said when it ended with an error, or why the pod is bound to no node; nil
// without a pod.
func Trouble(pod *corev1.Pod) *transitions.Problem {
	if pod == nil {
		return nil
	}
	for i, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		t := lastEnd(&status, i < len(pod.Status.InitContainerStatuses))
		if t != nil && t.ExitCode != 0 && strings.TrimSpace(t.Message) != "" {
			return &transitions.Problem{Reason: ReasonContainerFailed, Message: strings.TrimSpace(t.Message)}
		}
		if w := status.State.Waiting; w != nil && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" {
			return failure(w.Reason, t)
		}
	}
	at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
	})
	if at < 0 {
		return nil
	}
	return unscheduled(&pod.Status.Conditions[at])
}

// crashLoop is the reason of a container that waits because it ended before.
const crashLoop = "CrashLoopBackOff"

// failure is why a container waits, with how it ended if it waits for that: a daemon writes no termination message.
func failure(waiting string, end *corev1.ContainerStateTerminated) *transitions.Problem {
	switch {
	case waiting == "": // Kubernetes gives no reason
		return nil
	case waiting != crashLoop || end == nil:
		return &transitions.Problem{Reason: transitions.Reason(waiting), Message: waiting}
	case end.Reason == "OOMKilled":
		return transitions.Problemf(ReasonOutOfMemory, "OOMKilled: it needs more memory than its limit in spec.resources, or than its node has")
	}
	return transitions.Problemf(crashLoop, "%s: it ended with exit code %d (%s): see its log", waiting, end.ExitCode, cmp.Or(end.Reason, "no reason"))
}

// lastEnd returns how a container ended last, while that says why it does not run; nil otherwise. What it ended with before it succeeded, or
// before it started, is over, and stays in its status as long as the pod exists. An init container that runs again has not succeeded yet.
func lastEnd(status *corev1.ContainerStatus, init bool) *corev1.ContainerStateTerminated {
	switch started := status.Started != nil && *status.Started; {
	case status.State.Terminated != nil:
		return status.State.Terminated
	case status.State.Running != nil && started && !init:
		return nil
	}
	return status.LastTerminationState.Terminated
}

// Why is why a daemon does not start: the trouble of its pod, or why the API server refuses to create the pod; nil if nothing says so. A pod that
// has ended for good starts no more: why it has no successor comes first.
func Why(s *observation.Snapshot, name ceph.Daemon) *transitions.Problem {
	pod, of := s.Pods[name], s.Deployments[name]
	over := finished(pod)
	if why := Trouble(pod); !over && (why != nil || of == nil || pod != nil && pod.DeletionTimestamp == nil && render.Current(pod, of)) {
		return why
	}
	var why *transitions.Problem
	if of != nil {
		why = cmp.Or(Refused(of), Paused(of), Stopped(name, of), Ending(s, pod))
	}
	if why == nil && over {
		why = cmp.Or(Trouble(pod), failed(&pod.Status))
	}
	return why
}

// failed is why a pod has ended for good; nil if Kubernetes does not say so.
func failed(of *corev1.PodStatus) *transitions.Problem {
	if of.Reason == "" && of.Message == "" {
		return nil
	}
	reason := cmp.Or(transitions.Reason(of.Reason), ReasonPodFailed)
	return &transitions.Problem{Reason: reason, Message: strings.Trim(of.Reason+": "+of.Message, ": \n")}
}

// finished reports whether a pod has ended for good, such as one that its node has evicted: no container of it runs again.
func finished(pod *corev1.Pod) bool {
	return pod != nil && (pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded)
}

// Stopped is why a daemon has no pod: an administrator scaled its Deployment to zero; nil if it has replicas. Metadata servers are stopped and
// started by the upgrade.
func Stopped(name ceph.Daemon, of *appsv1.Deployment) *transitions.Problem {
	if name.Type == ceph.TypeMDS || of.Spec.Replicas == nil || *of.Spec.Replicas > 0 {
		return nil
	}
	return transitions.Problemf(ReasonScaledToZero, "the Deployment %s has 0 replicas: kubectl scale -n %s deployment %[1]s --replicas=1", of.Name, of.Namespace)
}

// overdue is how long after its grace period a pod that is being deleted is shown as one that does not end.
const overdue = 30 * time.Second

// Ending is why no other pod is started: a pod that was deleted is still there after its grace period; nil if none is.
func Ending(s *observation.Snapshot, pod *corev1.Pod) *transitions.Problem {
	if pod == nil || pod.DeletionTimestamp == nil || s.Now.Before(pod.DeletionTimestamp.Add(overdue)) {
		return nil
	}
	return transitions.Problemf(ReasonPodNotEnding, "the pod %s does not end: if its node is down for good, delete it with --force", pod.Name)
}

// Paused is why no pod of the present template of a Deployment is started: an administrator paused it; nil if it is not paused.
func Paused(of *appsv1.Deployment) *transitions.Problem {
	if !of.Spec.Paused {
		return nil
	}
	return transitions.Problemf(ReasonPaused, "the Deployment %s is paused: resume it with kubectl rollout resume -n %s deployment %[1]s", of.Name, of.Namespace)
}

// Several is why the pods of a Deployment disturb each other: it has several replicas of one daemon; nil if it has one or none.
func Several(of *appsv1.Deployment) *transitions.Problem {
	if of.Spec.Replicas == nil || *of.Spec.Replicas < 2 {
		return nil
	}
	return transitions.Problemf(ReasonSeveralReplicas, "the Deployment %s has %d replicas, and a daemon runs once: kubectl scale -n %s deployment %[1]s --replicas=1", of.Name, *of.Spec.Replicas, of.Namespace)
}

// ToolsTrouble is why the pod in which commands are run does not start; nil if it does, or if there is none.
func ToolsTrouble(s *observation.Snapshot) *transitions.Problem {
	if s.Tools == nil {
		return nil
	}
	return cmp.Or(Trouble(s.ToolsPod), Refused(s.Tools))
}

// Refused is why the API server refuses to create the pod of a Deployment, such as by a quota or by Pod Security; nil if it does not. It is
// shown without the name that the pod would have had.
func Refused(of *appsv1.Deployment) *transitions.Problem {
	at := slices.IndexFunc(of.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue
	})
	if at < 0 || of.Status.ObservedGeneration < of.Generation { // it may concern the pod from before
		return nil
	}
	c := &of.Status.Conditions[at]
	why := c.Message
	if _, after, found := strings.Cut(why, " is forbidden: "); found {
		why = after
	}
	return &transitions.Problem{Reason: transitions.Reason(c.Reason), Message: c.Reason + ": " + why}
}

// ofNodes is a number of nodes in a message of the scheduler.
var ofNodes = regexp.MustCompile(`\b\d+ `)

// unscheduled is the reason of the scheduler without the numbers of nodes, which change with time: "0/3 nodes are available: 3 Insufficient
// memory. preemption: ..." is shown as "Unschedulable: Insufficient memory".
func unscheduled(c *corev1.PodCondition) *transitions.Problem {
	_, why, _ := strings.Cut(c.Message, ": ")
	why, _, _ = strings.Cut(why, " preemption: ")
	if why = ofNodes.ReplaceAllString(strings.TrimSuffix(why, "."), ""); why != "" {
		why = ": " + why
	}
	return &transitions.Problem{Reason: transitions.Reason(c.Reason), Message: c.Reason + why}
}

// Unpulled reports whether an image of the pod cannot be pulled, and no container of the pod has ever run: nothing in it has touched the data
// of the daemon.
func Unpulled(pod *corev1.Pod) (unpulled bool) {
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if status.State.Running != nil || status.State.Terminated != nil || status.LastTerminationState.Terminated != nil {
			return false
		}
		unpulled = unpulled || status.State.Waiting != nil && observation.Unpullable(status.State.Waiting.Reason)
	}
	return unpulled
}
