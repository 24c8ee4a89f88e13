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

// A drain that is refused while another broker is waited for has to say so: nobody sees the state of a refused drain then.
func TestWaitBesideARefusedDrainSaysWhy(t *testing.T) {
	now := time.Now()
	wide := []kafka.Replicas{{Broker: 6, Widest: []kafka.Width{{Replicas: 4, Topics: []string{"orders"}}}}}
	const refusal = "; the drain is refused: 3 brokers stay, and the topics orders have up to 4 replicas: keep more brokers, or lower the number of replicas of these topics"
	const holds, registered = "c-b-6 holds replicas of 1 partitions", "c-b-9 is still registered: it is busy"
	for name, c := range map[string]struct {
		change            func(*Facts)
		waits, unregister string
	}{
		"too few brokers stay":     {waits: holds + refusal, unregister: registered + refusal},
		"no drain is requested":    {change: func(f *Facts) { f.Drain = false }, waits: holds, unregister: registered},
		"enough brokers stay":      {change: func(f *Facts) { f.Wanted = append(f.Wanted, 2) }, waits: holds, unregister: registered},
		"the drain has been begun": {change: func(f *Facts) { f.Nodes[0].Draining = 1 }, waits: "no broker leaves that has a process", unregister: registered},
		"nothing is known of what has to be moved": {
			change: func(f *Facts) { f.Moves = transitions.Pending[Moves]() }, waits: holds, unregister: registered,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := Facts{
				Now: now, EnteredAt: now, Pause: time.Minute, Wanted: []int32{3, 4, 5}, Drain: true,
				Nodes:      []Node{{ID: 6, Pod: "c-b-6", Runs: true}, {ID: 9, Pod: "c-b-9", Stopped: true}},
				Brokers:    transitions.Known(kafka.Brokers{Brokers: []kafka.Broker{{ID: 3}, {ID: 4}, {ID: 5}, {ID: 6}, {ID: 9}}}, now),
				Partitions: transitions.Known(kafka.Partitions{Total: 1, Replicas: map[int32]int{6: 1}}, now),
				LogDirs:    transitions.Known(map[int32]kafka.LogDirs{}, now),
				Moves:      transitions.Known(Moves{Replicas: wide}, now),
			}
			f.Answer.Text = "it is busy"
			if c.change != nil {
				c.change(&f)
			}
			empty, _ := pickEmpty(&f, roll.NoNode())
			again, _ := pickAgain(&f, roll.Data{Node: 9})
			if empty.Observed != c.waits || again.Observed != c.unregister {
				t.Errorf("the waits say %q and %q, want %q and %q", empty.Observed, again.Observed, c.waits, c.unregister)
			}
		})
	}
}
