package wire

import (
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator/kafka"
)

func reassign(c *kafka.Cluster, via int32, r *kmsg.AlterPartitionAssignmentsRequest) (kmsg.Response, error) {
	var moves []client.Move
	for _, t := range r.Topics {
		for _, p := range t.Partitions {
			moves = append(moves, client.Move{Topic: t.Topic, Index: p.Partition, Replicas: p.Replicas})
		}
	}
	results, err := c.Reassign(via, moves)
	resp := r.ResponseKind().(*kmsg.AlterPartitionAssignmentsResponse)
	resp.ErrorCode, resp.ErrorMessage, err = refusal(err)
	if err != nil {
		return nil, err
	}
	for _, result := range results {
		if n := len(resp.Topics); n == 0 || resp.Topics[n-1].Topic != result.Topic {
			t := kmsg.NewAlterPartitionAssignmentsResponseTopic()
			t.Topic = result.Topic
			resp.Topics = append(resp.Topics, t)
		}
		out := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
		out.Partition = result.Index
		if result.Refused != nil {
			out.ErrorCode, out.ErrorMessage = result.Refused.Code, &result.Refused.Message
		}
		t := &resp.Topics[len(resp.Topics)-1]
		t.Partitions = append(t.Partitions, out)
	}
	return resp, nil
}

func reassignments(c *kafka.Cluster, via int32, r *kmsg.ListPartitionReassignmentsRequest) (kmsg.Response, error) {
	moving, err := c.Reassignments(via)
	resp := r.ResponseKind().(*kmsg.ListPartitionReassignmentsResponse)
	resp.ErrorCode, resp.ErrorMessage, err = refusal(err)
	if err != nil {
		return nil, err
	}
	for _, m := range moving {
		if n := len(resp.Topics); n == 0 || resp.Topics[n-1].Topic != m.Topic {
			t := kmsg.NewListPartitionReassignmentsResponseTopic()
			t.Topic = m.Topic
			resp.Topics = append(resp.Topics, t)
		}
		out := kmsg.NewListPartitionReassignmentsResponseTopicPartition()
		out.Partition, out.Replicas, out.AddingReplicas, out.RemovingReplicas = m.Index, m.Replicas, m.Adding, m.Removing
		t := &resp.Topics[len(resp.Topics)-1]
		t.Partitions = append(t.Partitions, out)
	}
	return resp, nil
}

// alterConfigs changes cordoned.log.dirs of the broker that is asked. The model implements no other setting.
func alterConfigs(c *kafka.Cluster, via int32, r *kmsg.IncrementalAlterConfigsRequest) (kmsg.Response, error) {
	resp := r.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	for _, asked := range r.Resources {
		if asked.ResourceType != kmsg.ConfigResourceTypeBroker || len(asked.Configs) != 1 || asked.Configs[0].Name != client.ConfigCordonedLogDirs {
			return nil, fmt.Errorf("altering configurations: the model does not implement %v of %s", asked.Configs, asked.ResourceName)
		}
		out := kmsg.NewIncrementalAlterConfigsResponseResource()
		out.ResourceType, out.ResourceName = asked.ResourceType, asked.ResourceName
		err := unexpectedBroker(via, asked.ResourceName)
		if err == nil {
			err = c.Cordon(via, asked.Configs[0].Op == kmsg.IncrementalAlterConfigOpSet)
		}
		out.ErrorCode, out.ErrorMessage, err = refusal(err)
		if err != nil {
			return nil, err
		}
		resp.Resources = append(resp.Resources, out)
	}
	return resp, nil
}

// unexpectedBroker refuses the configuration of another broker than the one that is asked.
func unexpectedBroker(via int32, name string) error {
	if name == strconv.Itoa(int(via)) {
		return nil
	}
	return &client.Refused{
		Code: client.CodeInvalidRequest, Name: client.CodeName(client.CodeInvalidRequest),
		Message: "Unexpected broker id, expected " + strconv.Itoa(int(via)) + ", but received " + name,
	}
}
