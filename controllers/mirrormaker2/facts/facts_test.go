package facts_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/mirrormaker2/facts"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
)

// TestWorkersShowTheirTrouble checks that a worker that is not ready says why.
func TestWorkersShowTheirTrouble(t *testing.T) {
	const worker = "my-mm2-mirrormaker2-0"
	now := time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)
	ended := func(end corev1.ContainerStateTerminated) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "connect", RestartCount: 3,
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &end},
		}}}
	}
	refused := &corev1beta2.StrimziPodSet{}
	refused.Status.Conditions = []metav1.Condition{{Type: corev1beta2.PodsMade, Status: metav1.ConditionFalse}}
	refused.Status.RefusedPods = []corev1beta2.RefusedPod{{Name: worker, Message: "exceeded quota: small"}}
	for name, tc := range map[string]struct {
		status      corev1.PodStatus
		terminating bool
		set         *corev1beta2.StrimziPodSet
		want        string
	}{
		"starting": {},
		"it cannot be scheduled": {status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available",
		}}}, want: "cannot be scheduled: 0/3 nodes are available"},
		"it runs out of memory":    {status: ended(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}), want: "container connect ran out of memory"},
		"it dies":                  {status: ended(corev1.ContainerStateTerminated{ExitCode: 1, Message: "ConfigException: Missing group.id"}), want: "container connect died: ConfigException: Missing group.id"},
		"it ends without an error": {status: ended(corev1.ContainerStateTerminated{}), want: "its container waits: CrashLoopBackOff"},
		"it does not end":          {terminating: true, want: "the pod does not end: its host node-1 does not report it. Once that host is shut down for good, delete its Node"},
		"it is refused":            {set: refused, want: "cannot be created: exceeded quota: small"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &kafkav1beta2.KafkaMirrorMaker2Spec{Replicas: new(int32(1)), Target: &kafkav1beta2.MirrorMaker2Target{GroupID: "mm2"}}
			v := &observation.Snapshot{Now: now, Rendered: render.New(render.Input{Namespace: "default", Name: "my-mm2", Spec: spec, Version: "4.1.2"}), Set: tc.set}
			if tc.set == nil {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: worker}, Spec: corev1.PodSpec{NodeName: "node-1"}, Status: tc.status}
				if tc.terminating {
					pod.DeletionTimestamp = new(metav1.NewTime(now.Add(-time.Hour)))
				}
				v.Pods = []*corev1.Pod{pod}
			}
			got := ""
			if p := facts.Workers(nil, v, machines.ObserveOptions{}).Workers[0].Trouble; p != nil {
				got = p.Message
			}
			if got != tc.want {
				t.Errorf("trouble %q, want %q", got, tc.want)
			}
		})
	}
}
