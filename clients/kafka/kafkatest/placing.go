package kafkatest

import (
	"cmp"
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/detent-dev/detent/clients/kafka"
)

// tooFew is the code of the refusal to place replicas, with its message.
func tooFew(says string) Want {
	return Want{Code: kafka.CodeInvalidReplicationFactor, Says: []string{says}}
}

// placing are the rows about the brokers on which Kafka places the replicas of partitions without an assignment.
func placing() []Behaviour {
	return []Behaviour{
		{
			Name: "a fenced broker gets a replica only if there are too few others", Setup: three("4.1.2"), Given: []Step{Kill(3)},
			When: Create("orders", 3, 2), Want: accepted(),
			Then: []Step{HasReplicas(1, 3, 2), HasReplicas(2, 3, 2), HasReplicas(3, 0, 0), Create("audit", 2, 3), HasReplicas(3, 2, 3)},
		},
		{
			Name: "too few brokers for a topic", Setup: three("4.1.2"), When: Create("orders", 1, 4),
			Want: tooFew("Unable to replicate the partition 4 time(s): The target replication factor of 4 cannot be reached because only 3 broker(s) are registered."),
		},
	}
}

// cordoning are the rows about brokers that get no new replicas.
func cordoning() []Behaviour {
	const because = "The target replication factor of 3 cannot be reached because only 2 broker(s) are registered or some brokers have all their log directories cordoned."
	unknown := Want{Code: kafka.CodeInvalidConfig, Says: []string{"The cordoned.log.dirs configuration value cannot be set because it requires metadata.version >= 4.3-IV0"}}
	return append(cordonsOfFour(), []Behaviour{
		{
			Name: "a cordon is read back and taken away", Setup: three("4.3.1"), When: Cordon(3, true), Want: accepted(),
			Then: []Step{Cordoned(3, kafka.CordonedAll), Cordoned(2, ""), Cordon(3, true), Cordon(3, false), Cordoned(3, "")},
		},
		{
			Name: "a cordon outlives the process", Setup: three("4.3.1"), Given: []Step{Cordon(3, true)}, When: Roll("4.3.1", 3), Want: accepted(),
			Then: []Step{Cordoned(3, kafka.CordonedAll), Placeable(2)},
		},
		{
			Name: "a cordon and its end are refused below their metadata version", Setup: three("4.1.2"), Given: []Step{Roll("4.3.1", 1, 2, 3)}, When: Cordon(3, true),
			Want: unknown, Then: []Step{Refused(Cordon(3, false), unknown), Cordoned(3, ""), Placeable(3), Raise(30), Cordon(3, true), Cordoned(3, kafka.CordonedAll), Placeable(2)},
		},
		{
			Name: "too few brokers without a cordon for a topic", Setup: three("4.3.1"), Given: []Step{Cordon(3, true), Placeable(2)},
			When: Create("orders", 1, 3), Want: tooFew("Unable to replicate the partition 3 time(s): " + because),
		},
		{
			Name: "too few brokers without a cordon for another partition", Setup: three("4.3.1"),
			Given: []Step{Topic("orders", 1, 1, 2, 3), Cordon(3, true), Placeable(2)}, When: Extend("orders", 2), Want: tooFew(because),
			Then: []Step{HasReplicas(1, 1, 3), HasReplicas(3, 1, 3)},
		},
		{
			Name: "no topic is created while every broker is cordoned", Setup: three("4.3.1"),
			Given: []Step{Cordon(1, true), Cordon(2, true), Cordon(3, true), Placeable(0)}, When: Create("orders", 1, 1),
			Want: tooFew("Unable to replicate the partition 1 time(s): All brokers are currently fenced, or have all their log directories cordoned."),
		},
	}...)
}

// cordonsOfFour are the rows about a cordoned broker beside three others.
func cordonsOfFour() []Behaviour {
	setup := withFour()
	setup.Release = "4.3.1"
	return []Behaviour{
		{
			Name: "a cordoned broker keeps its replicas, and gets none without an assignment until the cordon is lifted", Setup: setup,
			Given: []Step{Topic("kept", 1, 4), Cordon(4, true), Placeable(3)}, When: Create("orders", 4, 3), Want: accepted(),
			Then: []Step{
				HasReplicas(1, 4, 3), HasReplicas(2, 4, 3), HasReplicas(3, 4, 3), HasReplicas(4, 1, 1),
				Extend("orders", 8), HasReplicas(1, 8, 3), HasReplicas(2, 8, 3), HasReplicas(3, 8, 3), HasReplicas(4, 1, 1), InSync("kept", 4),
				Cordon(4, false), Placeable(4), Create("audit", 4, 3), HasReplicas(4, 4, 3), Extend("orders", 12), HasReplicas(4, 7, 3),
			},
		},
		{
			// Releases after 4.3.1 refuse both assignments: KAFKA-20832.
			Name: "a cordoned broker gets the replicas that are assigned to it", Setup: setup,
			Given: []Step{Topic("orders", 1, 1, 2, 3), Cordon(4, true), Placeable(3)}, When: Move("orders", 1, 2, 4), Want: accepted(),
			Then: []Step{Moving(), InSync("orders", 1, 2, 4), HasReplicas(4, 1, 3), Topic("audit", 1, 4), HasReplicas(4, 2, 3), InSync("audit", 4)},
		},
	}
}

// Create creates a topic without an assignment.
func Create(topic string, partitions int32, replicas int16) Step {
	return step(func(ctx context.Context, w World) error { return create(ctx, w, topic, partitions, replicas, false) },
		"create %s with %d partitions of %d replicas", topic, partitions, replicas)
}

func create(ctx context.Context, w World, topic string, partitions int32, replicas int16, validateOnly bool) error {
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, partitions, replicas
	req := kmsg.NewPtrCreateTopicsRequest()
	req.SetVersion(5)
	req.TimeoutMillis, req.ValidateOnly = 10_000, validateOnly
	req.Topics = append(req.Topics, t)
	resp, err := send[*kmsg.CreateTopicsResponse](ctx, w, req)
	if err != nil {
		return err
	}
	return refusal(resp.Topics[0].ErrorCode, resp.Topics[0].ErrorMessage)
}

// Extend adds partitions without an assignment to a topic, until it has that many.
func Extend(topic string, partitions int32) Step {
	return step(func(ctx context.Context, w World) error {
		t := kmsg.NewCreatePartitionsRequestTopic()
		t.Topic, t.Count = topic, partitions
		req := kmsg.NewPtrCreatePartitionsRequest()
		req.SetVersion(3)
		req.TimeoutMillis = 10_000
		req.Topics = append(req.Topics, t)
		resp, err := send[*kmsg.CreatePartitionsResponse](ctx, w, req)
		if err != nil {
			return err
		}
		return refusal(resp.Topics[0].ErrorCode, resp.Topics[0].ErrorMessage)
	}, "extend %s to %d partitions", topic, partitions)
}

// Placeable requires that Kafka places this many replicas of a partition without an assignment, and not one more. The controllers
// learn of a cordon, and of its end, from a heartbeat of the broker: the answer to the change does not prove that they know.
func Placeable(most int16) Step {
	return eventually(func(ctx context.Context, w World) error {
		if most > 0 {
			if err := create(ctx, w, "validated", 1, most, true); err != nil {
				return err
			}
		}
		err := create(ctx, w, "validated", 1, most+1, true)
		if r, _ := kafka.AsRefused(err); r.Code != kafka.CodeInvalidReplicationFactor {
			return fmt.Errorf("%d replicas: want a refusal, got: %w", most+1, cmp.Or(err, errNone))
		}
		return nil
	}, "%d replicas of a partition can be placed", most)
}

// Cordon cordons a broker, or ends that.
func Cordon(broker int32, cordoned bool) Step {
	return step(func(ctx context.Context, w World) error {
		return w.Client().Cordon(ctx, kafka.Cordon{Broker: broker, Cordoned: cordoned})
	}, "cordon %d: %v", broker, cordoned)
}

// Refused requires the step to be refused.
func Refused(s Step, want Want) Step {
	return step(func(ctx context.Context, w World) error { return want.judge(s.Do(ctx, w)) }, "%s is refused", s.Name)
}

// Cordoned requires the broker to report this value of cordoned.log.dirs.
func Cordoned(broker int32, want string) Step {
	return eventually(func(ctx context.Context, w World) error {
		configs, err := w.Client().BrokerConfigs(ctx, broker)
		if err != nil {
			return err
		}
		return differs(want, configs[kafka.ConfigCordonedLogDirs])
	}, "cordoned directories of %d are %q", broker, want)
}
