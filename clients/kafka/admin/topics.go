package admin

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/IBM/sarama"

	"github.com/detent-dev/detent/clients/kafka"
)

// topicsPerRequest is the maximum number of topics in one request for configurations.
const topicsPerRequest = 500

// Partitions implements kafka.Reader. It reads the metadata of all topics and then their
// min.insync.replicas, both from one broker that is current. If Kafka refuses the configuration of a
// topic, for example because the topic was deleted in between, its partitions get MinISRUnreadable. If a replica is out of an ISR, it
// also reads the reassignments; if they cannot be read, replicas that are being added count as lost.
func (c *Client) Partitions(ctx context.Context) (kafka.Partitions, error) {
	return read(ctx, c, "describing the topics", func(ctx context.Context) (kafka.Partitions, error) {
		var out kafka.Partitions
		err := c.current(ctx, func(b *sarama.Broker) error {
			topics, err := allTopics(b, c.conf.Version)
			if err != nil {
				return err
			}
			minimums, err := minimumISRs(b, topics)
			if err != nil {
				return err
			}
			out = partitionsOf(topics, minimums)
			return nil
		})
		if err == nil && out.ReplicaMissing() {
			if moving, err := c.reassignments(ctx); err == nil {
				out.MarkAdding(moving)
			}
		}
		return out, err
	})
}

// allTopics lists the topics by name. It omits a topic that is being created or deleted. It fails on
// any other error of a topic, because a topic that is missing from the list may be the one that forbids
// a restart.
func allTopics(b *sarama.Broker, version sarama.KafkaVersion) ([]*sarama.TopicMetadata, error) {
	resp, err := b.GetMetadata(sarama.NewMetadataRequest(version, nil))
	if err != nil {
		return nil, err
	}
	topics := resp.Topics[:0]
	for _, t := range resp.Topics {
		switch t.Err {
		case sarama.ErrNoError:
			topics = append(topics, t)
		case sarama.ErrUnknownTopicOrPartition, sarama.ErrLeaderNotAvailable:
		default:
			return nil, refused(int16(t.Err), &t.Name)
		}
	}
	slices.SortFunc(topics, func(a, b *sarama.TopicMetadata) int { return strings.Compare(a.Name, b.Name) })
	return topics, nil
}

// minimumISRs reads min.insync.replicas of the topics. A topic whose value cannot be read is absent.
func minimumISRs(b *sarama.Broker, topics []*sarama.TopicMetadata) (map[string]int32, error) {
	minimums := make(map[string]int32, len(topics))
	for chunk := range slices.Chunk(topics, topicsPerRequest) {
		names := make([]string, len(chunk))
		for i, t := range chunk {
			names[i] = t.Name
		}
		resources, err := describeConfigs(b, sarama.TopicResource, names, []string{kafka.ConfigMinISR})
		if err != nil {
			return nil, err
		}
		for name, r := range resources {
			if r.ErrorCode == 0 {
				minimums[name] = minimumOf(r.Configs)
			}
		}
	}
	return minimums, nil
}

func minimumOf(entries []*sarama.ConfigEntry) int32 {
	for _, e := range entries {
		if e.Name != kafka.ConfigMinISR {
			continue
		}
		if n, err := strconv.ParseInt(e.Value, 10, 32); err == nil && n >= 0 {
			return int32(n)
		}
		return kafka.MinISRUnreadable
	}
	return kafka.MinISRUnset
}

func partitionsOf(topics []*sarama.TopicMetadata, minimums map[string]int32) kafka.Partitions {
	out := kafka.Partitions{Replicas: map[int32]int{}}
	for _, t := range topics {
		minISR, ok := minimums[t.Name]
		if !ok {
			minISR = kafka.MinISRUnreadable
		}
		slices.SortFunc(t.Partitions, func(a, b *sarama.PartitionMetadata) int { return int(a.ID) - int(b.ID) })
		for _, p := range t.Partitions {
			out.Add(kafka.Partition{Topic: t.Name, Index: p.ID, Leader: p.Leader, MinISR: minISR, Replicas: p.Replicas, ISR: p.Isr, Offline: offline(p)})
		}
	}
	return out
}
