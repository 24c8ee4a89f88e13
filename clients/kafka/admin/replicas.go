package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/kafka"
)

// Replicas implements kafka.Reader. It reads the reassignments first: those that end in between make a topic look wider than it
// is, never narrower.
func (c *Client) Replicas(ctx context.Context, broker int32) (kafka.Replicas, error) {
	return read(ctx, c, "describing the replicas of broker "+strconv.Itoa(int(broker)), func(ctx context.Context) (kafka.Replicas, error) {
		moving, err := c.reassignments(ctx)
		if err != nil {
			return kafka.Replicas{}, err
		}
		type partition struct {
			topic string
			index int32
		}
		leaving := make(map[partition]int, len(moving))
		for _, m := range moving {
			leaving[partition{m.Topic, m.Index}] = len(m.Removing)
		}
		var out kafka.Replicas
		err = c.current(ctx, func(b *sarama.Broker) error {
			topics, err := allTopics(b, c.conf.Version)
			if err != nil {
				return err
			}
			out = kafka.Replicas{Broker: broker}
			for _, t := range topics {
				slices.SortFunc(t.Partitions, func(a, b *sarama.PartitionMetadata) int { return int(a.ID) - int(b.ID) })
				for _, p := range t.Partitions {
					out.Add(kafka.Partition{Topic: t.Name, Index: p.ID, Leader: p.Leader, Replicas: p.Replicas, ISR: p.Isr, Offline: offline(p), MinISR: kafka.MinISRUnreadable}, leaving[partition{t.Name, p.ID}])
				}
			}
			return nil
		})
		return out, err
	})
}

// offline returns the offline replicas, nil if there are none.
func offline(p *sarama.PartitionMetadata) []int32 {
	if len(p.OfflineReplicas) == 0 {
		return nil
	}
	return p.OfflineReplicas
}

// Reassignments implements kafka.Reader.
func (c *Client) Reassignments(ctx context.Context) (kafka.Reassignments, error) {
	return read(ctx, c, "listing the reassignments", func(ctx context.Context) (kafka.Reassignments, error) {
		moving, err := c.reassignments(ctx)
		if err != nil {
			return kafka.Reassignments{}, err
		}
		var out kafka.Reassignments
		for _, m := range moving {
			out.Add(m)
		}
		return out, nil
	})
}

// reassignments lists all reassignments by topic, then index. The broker forwards the request to the controller, whose answer is
// current. It does not use sarama, which sends an empty list of topics for all of them, where the protocol wants null: Kafka answers
// that nothing is moved.
func (c *Client) reassignments(ctx context.Context) ([]kafka.Reassignment, error) {
	req := kmsg.NewPtrListPartitionReassignmentsRequest()
	req.TimeoutMillis = millis(c.opts.AttemptTimeout)
	var out []kafka.Reassignment
	err := c.franzRead(ctx, req, func(resp kmsg.Response) error {
		answer, err := as[*kmsg.ListPartitionReassignmentsResponse](resp)
		if err != nil {
			return err
		}
		out = nil
		for _, t := range answer.Topics {
			for _, p := range t.Partitions {
				out = append(out, kafka.Reassignment{Topic: t.Topic, Index: p.Partition, Replicas: p.Replicas, Adding: p.AddingReplicas, Removing: p.RemovingReplicas})
			}
		}
		return refused(answer.ErrorCode, answer.ErrorMessage)
	})
	slices.SortFunc(out, func(a, b kafka.Reassignment) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Index, b.Index))
	})
	return out, err
}

func millis(d time.Duration) int32 { return int32(d.Milliseconds()) }

// Reassign implements kafka.Writer. It does not use sarama, which gives no access to the errors of the partitions.
func (c *Client) Reassign(ctx context.Context, moves []kafka.Move) error {
	return c.write(ctx, fmt.Sprintf("moving the replicas of %d partitions", len(moves)), func(ctx context.Context) (bool, error) {
		resp, left, err := c.franzWrite(ctx, reassignRequest(moves, millis(c.controllerTimeout())))
		if err != nil {
			return left, err
		}
		answer, err := as[*kmsg.AlterPartitionAssignmentsResponse](resp)
		if err != nil {
			return true, err
		}
		err = refused(answer.ErrorCode, answer.ErrorMessage)
		for _, t := range answer.Topics {
			for _, p := range t.Partitions {
				if err == nil && p.ErrorCode != 0 && !nothingToCancel(moves, t.Topic, p.Partition, p.ErrorCode) {
					text := kafka.Partition{Topic: t.Topic, Index: p.Partition}.Name()
					if p.ErrorMessage != nil {
						text += ": " + *p.ErrorMessage
					}
					err = refused(p.ErrorCode, &text)
				}
			}
		}
		return true, err
	})
}

// nothingToCancel reports whether the error says that a reassignment which was to be cancelled is none: it has ended, or was
// cancelled before.
func nothingToCancel(moves []kafka.Move, topic string, index int32, code int16) bool {
	return code == kafka.CodeNoReassignmentInProgress && slices.ContainsFunc(moves, func(m kafka.Move) bool {
		return m.Topic == topic && m.Index == index && len(m.Replicas) == 0
	})
}

func reassignRequest(moves []kafka.Move, timeout int32) *kmsg.AlterPartitionAssignmentsRequest {
	req := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	req.TimeoutMillis = timeout
	sorted := slices.SortedFunc(slices.Values(moves), func(a, b kafka.Move) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Index, b.Index))
	})
	for _, m := range sorted {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != m.Topic {
			topic := kmsg.NewAlterPartitionAssignmentsRequestTopic()
			topic.Topic = m.Topic
			req.Topics = append(req.Topics, topic)
		}
		partition := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
		partition.Partition = m.Index
		if len(m.Replicas) > 0 {
			partition.Replicas = m.Replicas
		}
		topic := &req.Topics[len(req.Topics)-1]
		topic.Partitions = append(topic.Partitions, partition)
	}
	return req
}

// Cordon implements kafka.Writer.
func (c *Client) Cordon(ctx context.Context, cordon kafka.Cordon) error {
	entry := sarama.IncrementalAlterConfigsEntry{Operation: sarama.IncrementalAlterConfigsOperationDelete}
	if cordon.Cordoned {
		entry = sarama.IncrementalAlterConfigsEntry{Operation: sarama.IncrementalAlterConfigsOperationSet, Value: new(kafka.CordonedAll)}
	}
	return c.write(ctx, "cordoning broker "+strconv.Itoa(int(cordon.Broker)), func(ctx context.Context) (bool, error) {
		return c.alter(ctx, &cordon.Broker, map[string]sarama.IncrementalAlterConfigsEntry{kafka.ConfigCordonedLogDirs: entry})
	})
}
