package kafkatest

import (
	"context"
	"fmt"
	"slices"

	"github.com/detent-dev/detent/clients/kafka"
)

// moving are the rows about replicas that are moved from one broker to another.
func moving() []Behaviour {
	onFour := Topic("orders", 1, 1, 2, 4)
	refused := func(code int16, says string) Want { return Want{Code: code, Says: []string{says}} }
	return []Behaviour{
		{
			Name: "a broker whose replicas were moved away holds none", Setup: withFour(), Given: []Step{onFour, HasReplicas(4, 1, 3)},
			When: Move("orders", 1, 2, 3), Want: accepted(),
			Then: []Step{Moving(), InSync("orders", 1, 2, 3), HasReplicas(4, 0, 0), Holds(4, 0)},
		},
		{
			Name: "a moved leader is replaced", Setup: withFour(), Given: []Step{Topic("orders", 1, 4)},
			When: Move("orders", 3), Want: accepted(), Then: []Step{Moving(), InSync("orders", 3), Holds(4, 0)},
		},
		{
			Name: "a move to a broker that is down waits for it, and is not lost", Setup: withFour(), Given: []Step{onFour, Kill(3)},
			When: Move("orders", 1, 2, 3), Want: accepted(),
			Then: []Step{
				Moving(kafka.Reassignment{Topic: "orders", Replicas: []int32{1, 2, 3, 4}, Adding: []int32{3}, Removing: []int32{4}}),
				HasReplicas(4, 1, 3), OutOfSync(3), Start("4.1.2", 3), Moving(), HasReplicas(4, 0, 0),
			},
		},
		{
			Name: "a cancelled move leaves the replicas as they were", Setup: withFour(), Given: []Step{onFour, Kill(3), Move("orders", 1, 2, 3)},
			When: Move("orders"), Want: accepted(), Then: []Step{Moving(), HasReplicas(4, 1, 3), InSync("orders", 1, 2, 4)},
		},
		{Name: "cancelling a move that is none", Setup: withFour(), Given: []Step{onFour}, When: Move("orders"), Want: accepted(), Then: []Step{HasReplicas(4, 1, 3)}},
		{
			Name: "a move to a broker that is not registered", Setup: withFour(), Given: []Step{onFour}, When: Move("orders", 1, 2, 77),
			Want: refused(kafka.CodeInvalidReplicaAssignment, "includes broker 77, but no such broker is registered"), Then: []Step{HasReplicas(4, 1, 3)},
		},
		{
			Name: "a move of a topic that does not exist", Setup: withFour(), When: Move("none", 1, 2),
			Want: refused(kafka.CodeUnknownTopicOrPartition, "Unable to find a topic named none"),
		},
		{
			Name: "a fenced broker keeps its replicas", Setup: withFour(), Given: []Step{onFour},
			When: Kill(4), Want: accepted(), Then: []Step{HasReplicas(4, 1, 3), OutOfSync(4, "orders-0")},
		},
		{
			Name: "so does an unregistered one", Setup: withFour(), Given: []Step{onFour, Kill(4)},
			When: Unregister(4), Want: accepted(), Then: []Step{HasReplicas(4, 1, 3)},
		},
	}
}

// Move moves the only partition of a topic to the replicas, or cancels its move.
func Move(topic string, replicas ...int32) Step {
	return step(func(ctx context.Context, w World) error {
		return w.Client().Reassign(ctx, []kafka.Move{{Topic: topic, Replicas: replicas}})
	}, "move %s to %v", topic, replicas)
}

// Moving requires exactly these reassignments.
func Moving(want ...kafka.Reassignment) Step {
	return eventually(func(ctx context.Context, w World) error {
		got, err := w.Client().Reassignments(ctx)
		if err != nil {
			return err
		}
		if got.Total != len(want) {
			return fmt.Errorf("%d reassignments, want %d", got.Total, len(want))
		}
		return differs(want, got.First)
	}, "moving are %+v", want)
}

// OutOfSync requires exactly these partitions to count as those of which the broker has a replica that is out of the ISR.
func OutOfSync(broker int32, want ...string) Step {
	return eventually(func(ctx context.Context, w World) error {
		got, err := w.Client().Partitions(ctx)
		if err != nil {
			return err
		}
		var names []string
		for _, p := range kafka.OutOfSync(got.Suspect, broker) {
			names = append(names, p.Name())
		}
		return differs(want, names)
	}, "broker %d is out of the ISR of %v", broker, want)
}

// HasReplicas requires the metadata to list that many partitions with a replica on the broker. The first of them has that many
// replicas.
func HasReplicas(broker int32, partitions, wide int) Step {
	return eventually(func(ctx context.Context, w World) error {
		got, err := w.Client().Replicas(ctx, broker)
		switch {
		case err != nil:
			return err
		case got.Total != partitions || len(got.First) != partitions:
			return fmt.Errorf("broker %d has replicas of %d partitions, want %d", broker, got.Total, partitions)
		case partitions > 0 && (got.Widest[0].Replicas != wide || !slices.Contains(got.First[0].Replicas, broker)):
			return fmt.Errorf("%+v, want %d replicas", got, wide)
		}
		return nil
	}, "broker %d has replicas of %d partitions", broker, partitions)
}
