package kafka_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator/kafka"
)

// replicas returns the replicas of each partition of the topic.
func replicas(c *kafka.Cluster, topic string) (all [][]int32) {
	for _, p := range c.Partitions {
		if p.Topic == topic {
			all = append(all, p.Replicas)
		}
	}
	return all
}

func TestCreateTopicTakesBrokersInTurn(t *testing.T) {
	c := dual(t, "4.1.2")
	orders := kafka.NewTopic{Name: "orders", Partitions: 2, Replicas: 2}
	if err := c.CreateTopic(1, orders, true); err != nil {
		t.Fatal(err)
	}
	if got := replicas(c, "orders"); got != nil {
		t.Errorf("validating created %v", got)
	}
	if err := errors.Join(c.CreateTopic(1, orders, false), c.AddPartitions(1, "orders", 4)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]int32{{1, 2}, {2, 3}, {3, 1}, {1, 2}}, replicas(c, "orders")); diff != "" {
		t.Errorf("replicas (-want +got):\n%s", diff)
	}
	if err := c.CreateTopic(1, orders, false); err == nil {
		t.Error("a topic was created twice")
	}
	if r, _ := client.AsRefused(c.AddPartitions(1, "audit", 4)); r.Code != client.CodeUnknownTopicOrPartition {
		t.Errorf("extending no topic: %+v", r)
	}
}

func TestCordonHasNoEffectBelowItsLevel(t *testing.T) {
	for release, code := range map[string]int16{"4.1.2": 0, "4.3.1": client.CodeInvalidReplicationFactor} {
		c := dual(t, release)
		if err := c.Cordon(2, true); err != nil {
			t.Fatal(err)
		}
		err := c.CreateTopic(1, kafka.NewTopic{Name: "orders", Partitions: 1, Replicas: 3}, false)
		if r, _ := client.AsRefused(err); r.Code != code {
			t.Errorf("%s: %v, want code %d", release, err, code)
		}
	}
}

func TestCreatedTopicWithoutAnAnswer(t *testing.T) {
	c := dual(t, "4.1.2")
	c.AddFault(kafka.Fault{Request: kafka.RequestCreateTopics, Kind: kafka.LoseReply, Target: kafka.None, Times: 1})
	err := c.CreateTopic(1, kafka.NewTopic{Name: "orders", Partitions: 1, Replicas: 3}, false)
	if !errors.Is(err, kafka.ErrNoAnswer) || len(isr(c, "orders")) != 3 {
		t.Errorf("%v, ISR %v", err, isr(c, "orders"))
	}
}
