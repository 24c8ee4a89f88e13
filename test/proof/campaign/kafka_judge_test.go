package campaign_test

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/proof/campaign"
)

// Judge returns whether the operator ever disrupted more than one node at once, and whether the cluster was ever Ready with
// pods that do not match the spec, and what a removal has left. A pod that is not ready without a disruption is an outage.
func (e *estate) Judge(history []campaign.Event) []string {
	var out []string
	away, versions := map[string]bool{}, map[string]string{}
	for _, event := range history {
		switch o := event.Object.(type) {
		case *corev1.ConfigMap: // a record is deleted with the last of a node that was removed
			if event.Type == watch.Deleted {
				delete(away, strings.TrimSuffix(o.Name, record.Name("")))
				delete(versions, strings.TrimSuffix(o.Name, record.Name("")))
			}
		case *corev1.Pod:
			switch {
			case event.Type == watch.Deleted || o.DeletionTimestamp != nil:
				away[o.Name] = true
			case isReady(o):
				delete(away, o.Name)
			}
			versions[o.Name] = runs(o)
			if len(away) > 1 {
				out = append(out, fmt.Sprintf("at revision %d %d nodes were taken away at once", event.Revision, len(away)))
			}
		case *kafkav1beta2.Kafka:
			if o.Status.ObservedGeneration != o.Generation || !meta.IsStatusConditionTrue(o.Status.Conditions, lifecycle.Ready) || event.Type == watch.Deleted {
				continue
			}
			for name, version := range versions {
				if version != o.Spec.Kafka.Version || away[name] {
					out = append(out, fmt.Sprintf("at revision %d the cluster showed as ready on %s, and %s was on %s, away: %t", event.Revision, o.Spec.Kafka.Version, name, version, away[name]))
				}
			}
		}
	}
	if e.removal != nil {
		e.lands.now(e.namespace, func(l *land) {
			out = append(out, e.removal.leftOver(l.state.Cluster(types.NamespacedName{Namespace: e.namespace, Name: cluster}).Kafka)...)
		})
	}
	return out
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
