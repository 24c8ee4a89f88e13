package runtime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestGraceOf(t *testing.T) {
	for name, tc := range map[string]struct{ own, want *int64 }{
		"none is set":   {},
		"of its own":    {own: new(int64(30))},
		"a pod without": {own: new(int64(0)), want: new(int64(1))},
	} {
		t.Run(name, func(t *testing.T) {
			got := graceOf(&corev1.Pod{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: tc.own}})
			if (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
