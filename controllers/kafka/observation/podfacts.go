package observation

import (
	"path"
	"slices"

	"math"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// containerKafka is the name of the Kafka container.
const containerKafka = "kafka"

// podFacts returns the facts about a pod that a reconcile uses.
func podFacts(pod *corev1.Pod, now time.Time) Pod {
	p := Pod{
		Exists: true, UID: pod.UID, Terminating: pod.DeletionTimestamp != nil,
		Annotated: pod.Annotations[labels.KafkaVersion], Revision: pod.Annotations[labels.Revision], Image: kafkaImage(&pod.Spec),
		SnapshotInterval: interval(pod.Annotations[labels.SnapshotInterval]), Foreign: madeByStrimzi(pod),
	}
	ready := condition(pod, corev1.PodReady)
	if ready != nil && ready.Status == corev1.ConditionTrue && !p.Terminating {
		p.Ready, p.ReadySince = true, ready.LastTransitionTime.Time
	} else {
		p.UnreadySince = unreadySince(pod, ready)
	}
	kafka := container(pod.Status.ContainerStatuses, containerKafka)
	if kafka != nil && kafka.State.Running != nil {
		p.Running, p.StartedAt = true, kafka.State.Running.StartedAt.Time
	}
	p.NeverStarted = neverStarted(pod, kafka)
	p.Volumes = volumeReport(pod, kafka)
	if !p.Ready {
		p.Trouble = PodTrouble(pod, now)
	}
	return p
}

// PodTrouble returns why a pod that is not ready cannot start, keeps failing or does not end; nil if nothing is known.
func PodTrouble(pod *corev1.Pod, now time.Time) *transitions.Problem {
	if pod.DeletionTimestamp != nil {
		return notEnding(pod, now)
	}
	return trouble(pod, now)
}

// unreadySince returns since when a pod is not ready: its creation, the last change of its condition, or the request to delete it.
func unreadySince(pod *corev1.Pod, ready *corev1.PodCondition) time.Time {
	switch {
	case ready == nil:
		return pod.CreationTimestamp.Time
	case ready.Status == corev1.ConditionTrue && pod.DeletionTimestamp != nil:
		return pod.DeletionTimestamp.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
	}
	return ready.LastTransitionTime.Time
}

// kafkaImage returns the image of the Kafka container.
func kafkaImage(spec *corev1.PodSpec) string {
	for i := range spec.Containers {
		if spec.Containers[i].Name == containerKafka {
			return spec.Containers[i].Image
		}
	}
	return ""
}

// neverStarted reports whether the pod's status shows a Kafka container that has not been started yet.
func neverStarted(pod *corev1.Pod, kafka *corev1.ContainerStatus) bool {
	if kafka == nil {
		return pod.Status.Phase == corev1.PodPending || pod.Status.Phase == ""
	}
	return kafka.State.Waiting != nil && kafka.RestartCount == 0 && kafka.LastTerminationState.Terminated == nil
}

// interval parses milliseconds. It returns Kafka's default for an invalid or missing value, and 0, with which no snapshot is taken by time,
// for a number that no process lives to see, such as Long.MAX_VALUE.
func interval(text string) time.Duration {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	switch {
	case err != nil || n < 0:
		return record.DefaultSnapshotInterval
	case n > math.MaxInt64/int64(time.Millisecond):
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func container(list []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// trouble returns why the pod cannot start or keeps failing, or nil. The text is the same in every phase of a crash loop or a failing pull
// and contains no counter or time, so that it changes only with its cause.
func trouble(pod *corev1.Pod, now time.Time) *transitions.Problem {
	if pod.Status.Phase == corev1.PodFailed {
		return shortProblem(roll.PodFailed, "%s", strings.TrimSpace("the pod has failed: "+pod.Status.Reason+" "+pod.Status.Message))
	}
	if c := condition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
		return shortProblem(roll.Unschedulable, "cannot be scheduled: %s", c.Message)
	}
	for i := range pod.Status.InitContainerStatuses {
		if problem := containerTrouble(&pod.Status.InitContainerStatuses[i], now); problem != nil {
			return problem
		}
	}
	for i := range pod.Status.ContainerStatuses {
		if problem := containerTrouble(&pod.Status.ContainerStatuses[i], now); problem != nil {
			return problem
		}
	}
	return nil
}

// endPatience is how long after its grace period a pod may exist before it is not expected to end.
const endPatience = time.Minute

// notEnding returns why a terminating pod still exists long after its grace period; nil before. The API server adds the grace period
// to the deletion timestamp.
func notEnding(pod *corev1.Pod, now time.Time) *transitions.Problem {
	switch {
	case now.Before(pod.DeletionTimestamp.Add(endPatience)):
		return nil
	case len(pod.Finalizers) > 0:
		return shortProblem(roll.PodNotEnding, "the pod does not end: it waits for the finalizers %s", strings.Join(pod.Finalizers, ", "))
	}
	return shortProblem(roll.PodNotEnding, "the pod does not end: its host %s does not report it. Once that host is shut down for good, delete its Node", pod.Spec.NodeName)
}

// A process that runs again after one crash counts as healthy until it crashes again: it may be recovering its logs.
const (
	loopsFrom = 2
	loopLasts = time.Minute
)

// looping reports whether the container's last crash still counts: it does not run, or it has crashed repeatedly and runs again
// for less than a minute.
func looping(c *corev1.ContainerStatus, now time.Time) bool {
	r := c.State.Running
	return r == nil || c.RestartCount >= loopsFrom && now.Before(r.StartedAt.Add(loopLasts))
}

func containerTrouble(c *corev1.ContainerStatus, now time.Time) *transitions.Problem {
	if w := c.State.Waiting; w != nil {
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull":
			return shortProblem(roll.ImagePullFailed, "cannot pull image %s", c.Image)
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return shortProblem(roll.ContainerNotStarted, "cannot start container %s: %s", c.Name, w.Message)
		}
	}
	for _, end := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
		if end == nil || end.ExitCode == 0 || !looping(c, now) {
			continue
		}
		if end.Reason == "OOMKilled" {
			return transitions.Problemf(roll.OutOfMemory, "container %s ran out of memory", c.Name)
		}
		if words := informativeLine(end.Message); words != "" {
			return shortProblem(roll.ContainerDied, "container %s died: %s", c.Name, words)
		}
		return transitions.Problemf(roll.ContainerDied, "container %s died with exit code %d", c.Name, end.ExitCode)
	}
	return nil
}

// informativeLine returns the most informative line at the end of a log: the last one that names an exception or an error, else the
// last one that is not part of a stack trace.
func informativeLine(log string) string {
	last, informative := "", ""
	for line := range strings.SplitSeq(log, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case text == "", strings.HasPrefix(text, "at "), strings.HasPrefix(text, "... "):
			continue
		case strings.Contains(text, "Exception: "), strings.Contains(text, "Error: "), strings.Contains(text, "ERROR "), strings.Contains(text, "FATAL "):
			informative = text
		}
		last = text
	}
	if informative != "" {
		last = informative
	}
	return withoutTime(last)
}

// withoutTime drops a leading [2026-11-20 08:31:02,123], which changes with each crash.
func withoutTime(line string) string {
	if rest, stamped := strings.CutPrefix(line, "["); stamped && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		if _, after, found := strings.Cut(rest, "] "); found {
			return after
		}
	}
	return line
}

// shortProblem returns a problem whose message is shortened.
func shortProblem(reason transitions.Reason, format string, args ...any) *transitions.Problem {
	p := transitions.Problemf(reason, format, args...)
	p.Message = shortened(p.Message)
	return p
}

// shortened removes secrets from a text and truncates it such that the remedy at its end is kept. Secrets are removed first,
// because a truncated secret would not be recognized.
func shortened(text string) string { return machines.Cut(kafkaclient.Redact(text), 500) }

// volumeReport returns the last result of the init container that formats: its newest end counts, even while it runs again or
// waits to run. A running Kafka container was started after it, so the status of the init container does not matter then.
func volumeReport(pod *corev1.Pod, kafka *corev1.ContainerStatus) Volumes {
	if kafka != nil && kafka.State.Running != nil {
		return Volumes{Accepted: true}
	}
	format := container(pod.Status.InitContainerStatuses, render.FormatContainer)
	if format == nil {
		return Volumes{}
	}
	end := endOf(format)
	switch {
	case end == nil:
		return Volumes{}
	case end.ExitCode == 0:
		return Volumes{Accepted: true}
	case end.ExitCode != render.ExitStorage:
		return Volumes{}
	}
	return Volumes{Lost: lostDirectories(end.Message)}
}

// endOf returns the newest end of a container, or nil.
func endOf(c *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if c.State.Terminated != nil {
		return c.State.Terminated
	}
	return c.LastTerminationState.Terminated
}

// lostDirectories returns the directories that the init container names after the marker in its termination message. A message
// without the marker names none: the container ended for another reason.
func lostDirectories(message string) string {
	for line := range strings.SplitSeq(message, "\n") {
		if rest, found := strings.CutPrefix(strings.TrimSpace(line), render.StorageLostMarker); found {
			named, _, _ := strings.Cut(rest, ",")
			return strings.Join(strings.Fields(named), " ")
		}
	}
	return ""
}

// PersistentVolumes returns the ids of the pod's volumes with a claim, sorted.
func PersistentVolumes(pod *corev1.Pod) []int32 {
	var ids []int32
	for i := range pod.Spec.Volumes {
		if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			if id, ok := render.ClaimVolume(c.ClaimName, pod.Name); ok {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// strimziStart is the start script of Strimzi's Kafka containers. Annotations do not distinguish Strimzi's pods from Detent's:
// both have strimzi.io/revision.
const strimziStart = "kafka_run.sh"

// madeByStrimzi reports whether the pod runs Strimzi's start script.
func madeByStrimzi(pod *corev1.Pod) bool {
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if c.Name == containerKafka && len(c.Command) > 0 {
			return path.Base(c.Command[0]) == strimziStart
		}
	}
	return false
}
