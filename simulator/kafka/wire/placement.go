package wire

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/simulator/kafka"
)

var errNotModelled = errors.New("the model implements neither assignments nor configurations of new topics")

// createTopics creates topics on brokers that the model chooses.
func createTopics(c *kafka.Cluster, via int32, r *kmsg.CreateTopicsRequest) (kmsg.Response, error) {
	resp := r.ResponseKind().(*kmsg.CreateTopicsResponse)
	for _, asked := range r.Topics {
		if len(asked.ReplicaAssignment) > 0 || len(asked.Configs) > 0 {
			return nil, errNotModelled
		}
		out := kmsg.NewCreateTopicsResponseTopic()
		out.Topic = asked.Topic
		t := kafka.NewTopic{Name: asked.Topic, Partitions: asked.NumPartitions, Replicas: int32(asked.ReplicationFactor)}
		var err error
		out.ErrorCode, out.ErrorMessage, err = refusal(c.CreateTopic(via, t, r.ValidateOnly))
		if err != nil {
			return nil, err
		}
		resp.Topics = append(resp.Topics, out)
	}
	return resp, nil
}

// createPartitions adds partitions on brokers that the model chooses.
func createPartitions(c *kafka.Cluster, via int32, r *kmsg.CreatePartitionsRequest) (kmsg.Response, error) {
	resp := r.ResponseKind().(*kmsg.CreatePartitionsResponse)
	for _, asked := range r.Topics {
		if len(asked.Assignment) > 0 || r.ValidateOnly {
			return nil, errNotModelled
		}
		out := kmsg.NewCreatePartitionsResponseTopic()
		out.Topic = asked.Topic
		var err error
		out.ErrorCode, out.ErrorMessage, err = refusal(c.AddPartitions(via, asked.Topic, asked.Count))
		if err != nil {
			return nil, err
		}
		resp.Topics = append(resp.Topics, out)
	}
	return resp, nil
}
