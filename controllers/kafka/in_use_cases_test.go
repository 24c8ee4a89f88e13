package kafka

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/test/cases"
)

// TestScaleDownCasesOfBrokersInUse removes every broker of a pool: those that stay are in use. If the replicas cannot be read, all stay,
// and the status quotes the error.
func TestScaleDownCasesOfBrokersInUse(t *testing.T) {
	type given struct {
		Replicas       [][]int32 `json:"replicas"`
		ListTopics     string    `json:"list_topics"`
		DescribeTopics string    `json:"describe_topics"`
	}
	type outcome struct {
		InUse []int32       `json:"in_use"`
		Error cases.Failure `json:"error"`
	}
	cases.RunStrimzi(t, "scale-down.yaml", "brokers-in-use", nil, func(t *testing.T, g given, _ outcome) outcome {
		brokers := []int32{0, 1, 2, 3, 4}
		w := started(t, nil, onIDs(declaredPool("dual", 0, roleController, roleBroker), []int32{9}), onIDs(declaredPool("brokers", 0, roleBroker), brokers))
		for i, replicas := range g.Replicas {
			distinct := slices.Clone(replicas)
			slices.Sort(distinct)
			w.kafka.partitions.Add(kafkaclient.Partition{Topic: fmt.Sprint("t", i), Replicas: slices.Compact(distinct), ISR: distinct})
		}
		if g.ListTopics+g.DescribeTopics != "" {
			w.kafka.partitionsErr = errInjected
		}
		w.remove(&kafkav1beta2.KafkaNodePool{}, "brokers")
		w.run(90)
		left := w.nodes("strimzi.io/pool-name", "brokers")
		if w.kafka.partitionsErr == nil {
			return outcome{InUse: left}
		}
		waits := w.lifecycle(observation.LifecycleScaleDown).WaitingFor
		quoted := slices.ContainsFunc(waits, func(wait lifecyclev1.WaitingFor) bool { return strings.Contains(wait.Observed, errInjected.Error()) })
		return outcome{Error: cases.Failure(quoted && slices.Equal(left, brokers))}
	})
}
