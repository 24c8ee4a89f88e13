package stage

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// A broker is removed, and the other one is restarted once the pod of the first is gone.
func TestDownWithoutTheNodesThatWereRemoved(t *testing.T) {
	begun := time.Now()
	ready, unready := corev1.ConditionTrue, corev1.ConditionFalse
	for name, c := range map[string]struct {
		removed []string
		want    int
	}{
		"a node without a pod is down":                         {want: 2},
		"one that was removed is down until its pod is gone":   {removed: []string{"events-brokers-1"}, want: 1},
		"one that has a pod was down although it is not known": {removed: []string{"events-brokers-0"}, want: 2},
		"a name that nobody knows":                             {removed: []string{"events-brokers-7"}, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recording{pods: map[string]*podState{}}
			for _, e := range []watch.Event{
				{Type: watch.Added, Object: broker("events-brokers-0", ready)},
				{Type: watch.Added, Object: broker("events-brokers-1", ready)},
				{Type: watch.Modified, Object: broker("events-brokers-1", unready)},
				{Type: watch.Deleted, Object: broker("events-brokers-1", unready)},
				{Type: watch.Modified, Object: broker("events-brokers-0", unready)},
				{Type: watch.Modified, Object: broker("events-brokers-0", ready)},
			} {
				r.pod(e)
			}
			for _, node := range c.removed {
				r.forget(node)
			}
			p := &Phase{recording: r, begun: begun}
			if got := p.MostDown(); got != c.want {
				t.Errorf("nodes down at once: %d of %v, want %d", got, p.Down(), c.want)
			}
			outages, _ := p.Order()
			if diff := cmp.Diff([]string{"events-brokers-1", "events-brokers-0"}, outages); diff != "" {
				t.Errorf("nodes that went down (-want +got):\n%s", diff)
			}
		})
	}
}

func broker(name string, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{"strimzi.io/broker-role": "true"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Image: "apache/kafka:4.1.2"}}},
		Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
	}
}
