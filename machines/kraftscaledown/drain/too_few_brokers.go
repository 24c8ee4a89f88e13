package drain

import (
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/transitions"
)

// ReasonTooFewBrokers is the reason of a refusal: the brokers that stay cannot keep the replication factor of a topic.
const ReasonTooFewBrokers transitions.Reason = "TooFewBrokers"

// Refusal returns why the brokers cannot be drained, naming topics; nil if they can. It is decided before the first move: a drain
// that cannot end would leave the cluster half moved.
func Refusal(in *Input) *transitions.Problem {
	wide, topics := 0, []string(nil)
	for _, r := range in.Replicas {
		for _, w := range r.Widest {
			if w.Replicas > len(in.Staying) {
				wide, topics = max(wide, w.Replicas), append(topics, w.Topics...)
			}
		}
	}
	if len(topics) == 0 {
		return nil
	}
	slices.Sort(topics)
	topics = slices.Compact(topics)
	named := strings.Join(topics[:min(len(topics), kafka.FirstReplicas)], ", ")
	return transitions.Problemf(ReasonTooFewBrokers, "%d brokers stay, and the topics %s have up to %d replicas: keep more brokers, or lower the number of replicas of these topics",
		len(in.Staying), named, wide)
}
