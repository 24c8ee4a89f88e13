package kraftscaledown

import (
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

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
