package observation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

func TestRefusalOf(t *testing.T) {
	const quota = `creating *v1.Pod n/c-p-1: pods "c-p-1" is forbidden: exceeded quota: small`
	for name, tc := range map[string]struct {
		condition, status, message string
		want                       string
	}{
		"every pod could be created":        {},
		"the pod is refused":                {condition: "PodsMade", status: "False", message: quota, want: `cannot be created: pods "c-p-1" is forbidden: exceeded quota: small`},
		"the second of two that is refused": {condition: "PodsMade", status: "False", message: "creating *v1.Pod n/c-p-0: no\n" + quota, want: `cannot be created: pods "c-p-1" is forbidden: exceeded quota: small`},
		"another pod is refused":            {condition: "PodsMade", status: "False", message: "creating *v1.Pod n/c-p-10: no"},
		"the reason is not shown":           {condition: "PodsMade", status: "False", message: "creating *v1.Pod n/c-p-0: no\n… and 7 more", want: "cannot be created; the status of StrimziPodSet c-p has no room for the reason"},
		"another condition":                 {condition: "Other", status: "False", message: quota},
		"a condition that is satisfied":     {condition: "PodsMade", status: "True", message: quota},
	} {
		t.Run(name, func(t *testing.T) {
			set := &corev1beta2.StrimziPodSet{ObjectMeta: metav1.ObjectMeta{Name: "c-p"}}
			if tc.condition != "" {
				set.Status.Conditions = []metav1.Condition{{Type: tc.condition, Status: metav1.ConditionStatus(tc.status), Message: tc.message, LastTransitionTime: metav1.NewTime(noon)}}
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
