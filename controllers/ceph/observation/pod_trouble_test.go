package observation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/transitions"
)

// TestDelayOfADetectionThatWasEnded names what ended it, since it may end the next one, too. It is no evidence against the image.
func TestDelayOfADetectionThatWasEnded(t *testing.T) {
	const again = ": the detection is repeated within ten minutes"
	ended := func(code int32, reason string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}},
		}}}
	}
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"for its memory": {ended(137, "OOMKilled"), "the pod that detects it needs more memory than its limit or its node has (OOMKilled): " +
			"raise the default limit of the LimitRange of the namespace, if it has one" + again},
		"by a signal":      {ended(137, "Error"), "the pod that detects it was ended" + again},
		"it was evicted":   {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}, "its node rejected or evicted the pod that detects it (Evicted)" + again},
		"it never started": {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfcpu"}, "its node rejected or evicted the pod that detects it (OutOfcpu)" + again},
	} {
		t.Run(name, func(t *testing.T) {
			job := &batchv1.Job{Status: batchv1.JobStatus{Failed: 1, Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}}}
			s := &observation.Snapshot{Detections: map[string]observation.Detection{render.ImageID("ceph:18"): {Job: job, Pod: &corev1.Pod{Status: tc.status}}}}
			if diff := cmp.Diff(&transitions.Problem{Reason: observation.DetectionInterrupted, Message: tc.want}, s.Delay("ceph:18")); diff != "" {
				t.Errorf("it is delayed (-want +got):\n%s", diff)
			}
			if image, problem := s.Detected("ceph:18"); image != nil || problem != nil {
				t.Errorf("detected %v, %v", image, problem)
			}
		})
	}
}
