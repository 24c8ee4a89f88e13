package status

import (
	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// ReasonCheckSkipped: the annotation that skips the check for replicas is set, and applies to brokers that leave, or has no effect.
const ReasonCheckSkipped = "ScaleDownCheckSkipped"

// skippedCheck returns a warning while brokers leave without a check for replicas, and while a requested drain keeps the annotation that
// skips the check from having an effect; nil otherwise.
func skippedCheck(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	if !facts.SkipsCheck(k) {
		return nil
	}
	if observation.Drains(k) {
		return transitions.Problemf(ReasonCheckSkipped, "%s=true has no effect while %s=true requests a drain: brokers that leave are removed once they hold no replica. "+
			"Remove one of the annotations", facts.AnnotationSkipCheck, observation.AnnotationDrain)
	}
	var leaving []string
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Removal() != observation.Stays {
			leaving = append(leaving, holding(v, n))
		}
	}
	if len(leaving) == 0 {
		return nil
	}
	return transitions.Problemf(ReasonCheckSkipped, "%s=true is set: %s leave with the replicas that they hold, and partitions without another replica are lost. "+
		"Remove the annotation to keep each broker until it holds no replica", facts.AnnotationSkipCheck, roll.Names(leaving))
}
