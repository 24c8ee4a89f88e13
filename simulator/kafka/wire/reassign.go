package wire

import (
	"fmt"
	"slices"
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

// reassignments lists the reassignments of the requested topics; of all topics if the list is null, and of none if it is empty.
func reassignments(c *kafka.Cluster, via int32, r *kmsg.ListPartitionReassignmentsRequest) (kmsg.Response, error) {
	moving, err := c.Reassignments(via)
	resp := r.ResponseKind().(*kmsg.ListPartitionReassignmentsResponse)
	resp.ErrorCode, resp.ErrorMessage, err = refusal(err)
	if err != nil {
		return nil, err
	}
	for _, m := range moving {
		if r.Topics != nil && !slices.ContainsFunc(r.Topics, func(t kmsg.ListPartitionReassignmentsRequestTopic) bool {
			return t.Topic == m.Topic && slices.Contains(t.Partitions, m.Index)
		}) {
			continue
		}
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

// alterConfigs changes cordoned.log.dirs of the broker that is asked, or dynamic values. The model implements no other setting.
func alterConfigs(c *kafka.Cluster, via int32, r *kmsg.IncrementalAlterConfigsRequest) (kmsg.Response, error) {
	resp := r.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	for _, asked := range r.Resources {
		out := kmsg.NewIncrementalAlterConfigsResponseResource()
		out.ResourceType, out.ResourceName = asked.ResourceType, asked.ResourceName
		var err error
		out.ErrorCode, out.ErrorMessage, err = refusal(alterResource(c, via, asked))
		if err != nil {
			return nil, err
		}
		resp.Resources = append(resp.Resources, out)
	}
	return resp, nil
}

func alterResource(c *kafka.Cluster, via int32, asked kmsg.IncrementalAlterConfigsRequestResource) error {
	if asked.ResourceType != kmsg.ConfigResourceTypeBroker {
		return fmt.Errorf("altering configurations: the model does not implement those of %s", asked.ResourceName)
	}
	if len(asked.Configs) == 1 && asked.Configs[0].Name == client.ConfigCordonedLogDirs {
		if err := kafka.UnexpectedBroker(via, asked.ResourceName); err != nil {
			return err
		}
		return c.Cordon(via, asked.Configs[0].Op == kmsg.IncrementalAlterConfigOpSet)
	}
	a := client.Alteration{Set: map[string]string{}}
	if asked.ResourceName != "" {
		id, err := strconv.ParseInt(asked.ResourceName, 10, 32)
		if err != nil {
			return kafka.UnexpectedBroker(via, asked.ResourceName)
		}
		a.Broker = new(int32(id))
	}
	for _, change := range asked.Configs {
		switch {
		case !slices.Contains(client.DescribedNames(), change.Name):
			return fmt.Errorf("altering configurations: the model does not implement %s", change.Name)
		case change.Op == kmsg.IncrementalAlterConfigOpDelete:
			a.Delete = append(a.Delete, change.Name)
		case change.Op == kmsg.IncrementalAlterConfigOpSet && change.Value != nil:
			a.Set[change.Name] = *change.Value
		default:
			return fmt.Errorf("altering configurations: the model does not implement operation %v", change.Op)
		}
	}
	return c.Alter(via, a)
}
