package kraftscaledown

import (
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// A drain that moves nothing has to say what it waits for.
func TestWaitOfADrainSaysWhyNothingIsMoved(t *testing.T) {
	now := time.Now()
	partitions := []kafka.Partition{{Topic: "orders", Replicas: []int32{3, 0}}, {Topic: "single", Leader: kafka.NoLeader, Replicas: []int32{3}}}
	f := Facts{
		Wanted: []int32{0, 1}, Drain: true, Nodes: []Node{{ID: 3, Pod: "c-p-3", Runs: true, Draining: 2}},
		Brokers:    transitions.Known(kafka.Brokers{Brokers: []kafka.Broker{{ID: 0}, {ID: 1, Fencing: kafka.Fenced}, {ID: 3}}}, now),
		Partitions: transitions.Known(kafka.Partitions{Total: 2, Replicas: map[int32]int{3: 2}}, now),
		LogDirs:    transitions.Known(map[int32]kafka.LogDirs{}, now),
		Moves:      transitions.Known(Moves{Replicas: []kafka.Replicas{{Broker: 3, First: partitions}}, Moving: kafka.Reassignments{Total: 30}}, now),
	}
	const want = "c-p-3 holds replicas of 2 partitions, and 30 reassignments that are not of this drain are in progress, of at most 20: wait for them, or cancel those that do not end" +
		", and too few of the brokers that stay are alive to get orders-0: make the others ready" +
		", and single-0 cannot be moved without a leader: bring a broker with a replica in sync back, or delete the topics"
	if got := selectedDrained.Evaluate(&f, roll.Data{Node: 3}).Observed; got != want {
		t.Errorf("the wait says %q, want %q", got, want)
	}
}

// A move to a broker that died does not end by itself, so that the wait has to name the broker.
func TestWaitOfADrainNamesADeadTarget(t *testing.T) {
	now := time.Now()
	const before = "c-p-3 holds replicas of 1 partitions"
	const dead = before + ", and moves to broker 1 do not end, since these brokers are down or leave: they are replaced once other brokers can get the replicas"
	for name, c := range map[string]struct {
		down []int32
		want string
	}{"it restarts": {want: before}, "it died": {down: []int32{1}, want: dead}} {
		t.Run(name, func(t *testing.T) {
			f := Facts{
				Wanted: []int32{0, 1}, Down: c.down, Drain: true, Nodes: []Node{{ID: 3, Pod: "c-p-3", Runs: true, Draining: 1}},
				Brokers:    transitions.Known(kafka.Brokers{Brokers: []kafka.Broker{{ID: 0}, {ID: 1, Fencing: kafka.Fenced}, {ID: 3}}}, now),
				Partitions: transitions.Known(kafka.Partitions{Total: 1, Replicas: map[int32]int{3: 1}}, now),
				LogDirs:    transitions.Known(map[int32]kafka.LogDirs{}, now),
				Moves: transitions.Known(Moves{Moving: kafka.Reassignments{Total: 1, First: []kafka.Reassignment{
					{Topic: "orders", Replicas: []int32{1, 3}, Adding: []int32{1}, Removing: []int32{3}},
				}}}, now),
			}
			if got := selectedDrained.Evaluate(&f, roll.Data{Node: 3}).Observed; got != c.want {
				t.Errorf("the wait says %q, want %q", got, c.want)
			}
		})
	}
}
