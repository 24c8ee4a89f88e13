package observation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

func TestRefusalOf(t *testing.T) {
	quota := corev1beta2.RefusedPod{Name: "c-p-1", Message: `pods "c-p-1" is forbidden: exceeded quota: small`}
	for name, tc := range map[string]struct {
		status  metav1.ConditionStatus
		refused []corev1beta2.RefusedPod
		want    string
	}{
		"every pod could be created":        {},
		"the pod is refused":                {status: metav1.ConditionFalse, refused: []corev1beta2.RefusedPod{quota}, want: `cannot be created: pods "c-p-1" is forbidden: exceeded quota: small`},
		"the second of two that is refused": {status: metav1.ConditionFalse, refused: []corev1beta2.RefusedPod{{Name: "c-p-0", Message: "no"}, quota}, want: `cannot be created: pods "c-p-1" is forbidden: exceeded quota: small`},
		"another pod is refused":            {status: metav1.ConditionFalse, refused: []corev1beta2.RefusedPod{{Name: "c-p-10", Message: "creating *v1.Pod n/c-p-1: no"}}},
		"the reason is not shown":           {status: metav1.ConditionFalse, refused: []corev1beta2.RefusedPod{{Name: "c-p-1"}}, want: "cannot be created; the status of StrimziPodSet c-p has no room for the reason"},
		"a condition that is satisfied":     {status: metav1.ConditionTrue, refused: []corev1beta2.RefusedPod{quota}},
		"no condition says since when":      {refused: []corev1beta2.RefusedPod{quota}},
	} {
		t.Run(name, func(t *testing.T) {
			set := &corev1beta2.StrimziPodSet{ObjectMeta: metav1.ObjectMeta{Name: "c-p"}}
			set.Status.RefusedPods = tc.refused
			if tc.status != "" { // the message is for users, and decides nothing
				set.Status.Conditions = []metav1.Condition{{Type: corev1beta2.PodsMade, Status: tc.status, Message: "creating *v1.Pod n/c-p-1: other words", LastTransitionTime: metav1.NewTime(noon)}}
			}
			got := ""
			problem, since := RefusalOf(set, "c-p-1")
			if problem != nil {
				got = problem.Message
			}
			if since.Equal(noon) != (problem != nil) {
				t.Errorf("refused since %s", since)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
