package observation

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/render"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// refusedPods sets the trouble of nodes with an entry and without a pod: why the API server refused to create the pod, such as a quota, as
// the status of the StrimziPodSet shows it.
func (d *deriver) refusedPods() {
	for i := range d.nodes {
		n := &d.nodes[i]
		if !n.Entry.Exists || n.Pod.Exists {
			continue
		}
		if set := Named(d.snapshot.Objects.PodSets, render.PodSetName(d.kafka.Name, n.Pool)); set != nil {
			n.Pod.Trouble, n.Pod.RefusedSince = RefusalOf(set, n.PodName)
		}
	}
}

// RefusalOf returns why the pod could not be created, and since when the set has had refused pods; nil if the status of its set does not list
// the pod.
func RefusalOf(set *corev1beta2.StrimziPodSet, pod string) (why *transitions.Problem, since time.Time) {
	at := slices.IndexFunc(set.Status.RefusedPods, func(r corev1beta2.RefusedPod) bool { return r.Name == pod })
	c := meta.FindStatusCondition(set.Status.Conditions, corev1beta2.PodsMade)
	if at < 0 || c == nil || c.Status != metav1.ConditionFalse {
		return nil, since
	}
	since = c.LastTransitionTime.Time
	if message := set.Status.RefusedPods[at].Message; message != "" {
		return shortProblem(roll.PodRefused, "cannot be created: %s", message), since
	}
	return shortProblem(roll.PodRefused, "cannot be created; the status of StrimziPodSet %s has no room for the reason", set.Name), since
}
