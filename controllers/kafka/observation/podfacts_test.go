package observation

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const dyingBroker = `[2026-11-20 08:31:02,123] INFO [BrokerServer id=3] Transition from STARTING to STARTED (kafka.server.BrokerServer)
[2026-11-20 08:31:04,456] ERROR Encountered fatal fault: Unexpected error in raft IO thread (org.apache.kafka.server.fault.ProcessTerminatingFaultHandler)
java.lang.IllegalStateException: Tried to apply FeatureLevelRecord with featureLevel=27, but this controller only supports versions 7-25
	at org.apache.kafka.controller.FeatureControlManager.replay(FeatureControlManager.java:1)
	at java.base/java.lang.Thread.run(Thread.java:840)
	... 3 more
`

func status(state, last corev1.ContainerState) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "kafka", Image: "apache/kafka:4.0.2", State: state, LastTerminationState: last}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func terminated(code int32, reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}}
}

// again is a container that died so often and runs since so long ago.
func again(restarts int32, since time.Duration) corev1.ContainerStatus {
	s := status(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(noon.Add(-since))}}, terminated(1, "Error", dyingBroker))
	s.RestartCount = restarts
	return s
}

func TestTrouble(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	died := "container kafka died: java.lang.IllegalStateException: Tried to apply FeatureLevelRecord with featureLevel=27, but this controller only supports versions 7-25"
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"merely not ready yet": {status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status(running, corev1.ContainerState{})}}},
		"being created":        {status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status(waiting("ContainerCreating", ""), corev1.ContainerState{})}}},
		"unschedulable": {want: "cannot be scheduled: 0/3 nodes are available", status: corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available"}}}},
		"waits for its turn to be scheduled": {status: corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "SchedulingGated"}}}},
		"a pull that fails": {want: "cannot pull image apache/kafka:4.0.2", status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			status(waiting("ErrImagePull", "rpc error"), corev1.ContainerState{})}}},
		"a pull that backs off reads the same": {want: "cannot pull image apache/kafka:4.0.2", status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			status(waiting("ImagePullBackOff", "Back-off pulling image"), corev1.ContainerState{})}}},
		"a missing ConfigMap": {want: `cannot start container kafka: configmap "x" not found`, status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			status(waiting("CreateContainerConfigError", `configmap "x" not found`), corev1.ContainerState{})}}},
		"died": {want: died, status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			status(terminated(1, "Error", dyingBroker), corev1.ContainerState{})}}},
		"a crash loop reads the same": {want: died, status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			status(waiting("CrashLoopBackOff", "back-off 5m0s restarting"), terminated(1, "Error", dyingBroker))}}},
		"up between two crashes reads the same": {want: died, status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			again(2, 59*time.Second)}}},
		"up again after many crashes, for long": {status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{again(9, time.Minute)}}},
		"up again after one crash":              {status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{again(1, time.Second)}}},
		"died without a word": {want: "container kafka died with exit code 137", status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			status(terminated(137, "Error", ""), corev1.ContainerState{})}}},
		"ended in order": {status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status(running, terminated(0, "Completed", "bye"))}}},
		"out of memory": {want: "container kafka ran out of memory", status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			status(terminated(137, "OOMKilled", "words"), corev1.ContainerState{})}}},
		"storage lost": {want: "container format died: ERROR storage lost: nothing is left", status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{
			{Name: "format", State: terminated(64, "Error", "ERROR storage lost: nothing is left\n")}}}},
		"evicted by its node": {want: "the pod has failed: Evicted The node was low on resource", status: corev1.PodStatus{
			Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource"}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: tc.status}
			if got := message(podFacts(pod, noon).Trouble); got != tc.want {
				t.Errorf("trouble %q, want %q", got, tc.want)
			}
		})
	}
}

// Trouble is of those that are not ready and are to stay.
func TestTroubleOfAReadyOrTerminatingPod(t *testing.T) {
	now := metav1.NewTime(noon)
	for name, pod := range map[string]*corev1.Pod{
		"ready":   {Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}},
		"leaving": {ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}},
	} {
		t.Run(name, func(t *testing.T) {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{status(corev1.ContainerState{}, terminated(1, "Error", dyingBroker))}
			if got := podFacts(pod, noon); got.Trouble != nil || got.Ready != (name == "ready") || got.Terminating != (name == "leaving") {
				t.Errorf("facts %+v", got)
			}
		})
	}
}

// A pod on a lost host terminates for ever. Its deletion timestamp is the end of its grace period.
func TestTroubleOfAPodThatDoesNotEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		until      time.Duration
		finalizers []string
		want       string
	}{
		"within its grace period":                  {until: 30 * time.Second},
		"right after its grace period":             {until: -endPatience + 1},
		"long after its grace period":              {until: -endPatience, want: "the pod does not end: its host host-1 does not report it. Once that host is shut down for good, delete its Node"},
		"long after its grace period, with a hold": {until: -time.Hour, finalizers: []string{"a.dev/x", "a.dev/y"}, want: "the pod does not end: it waits for the finalizers a.dev/x, a.dev/y"},
	} {
		t.Run(name, func(t *testing.T) {
			deleted := metav1.NewTime(noon.Add(tc.until))
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &deleted, Finalizers: tc.finalizers}, Spec: corev1.PodSpec{NodeName: "host-1"}}
			if got := message(podFacts(pod, noon).Trouble); got != tc.want {
				t.Errorf("trouble %q, want %q", got, tc.want)
			}
		})
	}
}

// A pod that is deleted keeps its last condition until its process has ended, and for ever if its kubelet is lost.
func TestPodFactsUnreadySince(t *testing.T) {
	ready := func(status corev1.ConditionStatus, ago time.Duration) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(noon.Add(-ago))}}
	}
	deleted := metav1.NewTime(noon.Add(30 * time.Second)) // the end of the grace period
	for name, tc := range map[string]struct {
		conditions []corev1.PodCondition
		deleted    *metav1.Time
		want       time.Time
	}{
		"ready":                   {conditions: ready(corev1.ConditionTrue, time.Hour)},
		"without a condition":     {want: noon.Add(-2 * time.Hour)},
		"not ready":               {conditions: ready(corev1.ConditionFalse, time.Minute), want: noon.Add(-time.Minute)},
		"deleted and ready":       {conditions: ready(corev1.ConditionTrue, time.Hour), deleted: &deleted, want: noon.Add(-30 * time.Second)},
		"deleted after not ready": {conditions: ready(corev1.ConditionFalse, time.Minute), deleted: &deleted, want: noon.Add(-time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: tc.conditions}, ObjectMeta: metav1.ObjectMeta{
				CreationTimestamp: metav1.NewTime(noon.Add(-2 * time.Hour)), DeletionTimestamp: tc.deleted, DeletionGracePeriodSeconds: new(int64(60)),
			}}
			if got := podFacts(pod, noon).UnreadySince; !got.Equal(tc.want) {
				t.Errorf("not ready since %s, want %s", got, tc.want)
			}
		})
	}
}

func TestTroubleIsShort(t *testing.T) {
	pod := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
		status(terminated(1, "Error", strings.Repeat("ä", 1000)), corev1.ContainerState{})}}}
	if got := message(podFacts(pod, noon).Trouble); len(got) > 500 || !strings.HasSuffix(got, "...") || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("trouble has %d bytes: %q", len(got), got)
	}
}

func TestInterval(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"600000": 10 * time.Minute, "0": 0, "": time.Hour, "x": time.Hour, "-1": time.Hour,
		"9223372036854775807": 0, "9223372036854775808": time.Hour,
	} {
		if got := interval(text); got != want {
			t.Errorf("interval(%q) = %s, want %s", text, got, want)
		}
	}
}
