package kraftscaledown

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// What a drain waits for is told apart by reasons: the texts are for users only.
func TestDelaysOfADrainHaveReasons(t *testing.T) {
	now := time.Now()
	moves := func(m Moves) transitions.Fact[Moves] { return transitions.Known(m, now) }
	held := func(p kafka.Partition) Moves {
		return Moves{Replicas: []kafka.Replicas{{Broker: 3, First: []kafka.Partition{p}}}}
	}
	dying := kafka.Reassignment{Topic: "orders", Replicas: []int32{1, 3}, Adding: []int32{1}, Removing: []int32{3}}
	for name, c := range map[string]struct {
		moves transitions.Fact[Moves]
		down  []int32
		want  []transitions.Reason
	}{
		"nothing delays it":               {moves: moves(held(kafka.Partition{Topic: "orders", Replicas: []int32{3}}))},
		"nothing is known":                {moves: transitions.Pending[Moves]()},
		"a move to a broker that died":    {moves: moves(Moves{Moving: kafka.Reassignments{Total: 1, First: []kafka.Reassignment{dying}}}), down: []int32{1}, want: []transitions.Reason{reasonDeadTarget}},
		"others take all places":          {moves: moves(Moves{Moving: kafka.Reassignments{Total: 30}}), want: []transitions.Reason{reasonOtherMoves}},
		"too few brokers are alive":       {moves: moves(held(kafka.Partition{Topic: "orders", Replicas: []int32{3, 0}})), want: []transitions.Reason{reasonUnplaced}},
		"the only replica has no process": {moves: moves(held(kafka.Partition{Topic: "single", Leader: kafka.NoLeader, Replicas: []int32{3}})), want: []transitions.Reason{reasonLeaderless}},
	} {
		t.Run(name, func(t *testing.T) {
			f := Facts{
				Wanted: []int32{0, 1}, Down: c.down, Drain: true, Nodes: []Node{{ID: 3, Pod: "c-p-3", Runs: true, Draining: 1}}, Moves: c.moves,
				Brokers: transitions.Known(kafka.Brokers{Brokers: []kafka.Broker{{ID: 0}, {ID: 1, Fencing: kafka.Fenced}, {ID: 3}}}, now),
			}
			var got []transitions.Reason
			for _, d := range f.delays(3) {
				got = append(got, d.Reason)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Of several brokers that leave, the first that holds a replica is shown, and one of which it is not known before it.
func TestWaitShowsTheFirstBrokerThatIsInTheWay(t *testing.T) {
	now := time.Now()
	gone, first, second := Node{ID: 4, Pod: "c-b-4"}, Node{ID: 6, Pod: "c-b-6", Runs: true}, Node{ID: 5, Pod: "c-b-5", Runs: true}
	dirs := map[int32]kafka.LogDirs{4: {Broker: 4, Dirs: []kafka.LogDir{{Path: "/data"}}}}
	for name, c := range map[string]struct {
		nodes []Node
		held  map[int32]int
		want  string
	}{
		"both hold replicas":                      {nodes: []Node{first, second}, held: map[int32]int{6: 1, 5: 2}, want: "c-b-6 holds replicas of 1 partitions"},
		"the second is not known":                 {nodes: []Node{first, second}, held: map[int32]int{6: 1}, want: "c-b-5 does not report what its disks hold"},
		"the first is not known":                  {nodes: []Node{first, second}, held: map[int32]int{5: 2}, want: "c-b-6 does not report what its disks hold"},
		"one before them is empty and gone":       {nodes: []Node{gone, first, second}, held: map[int32]int{6: 1, 5: 2}, want: "c-b-6 holds replicas of 1 partitions"},
		"the only one is empty, and has no pod":   {nodes: []Node{gone}, want: "no broker leaves that has a process"},
		"the first is stopped and has no process": {nodes: []Node{{ID: 7, Pod: "c-b-7", Stopped: true}, second}, held: map[int32]int{7: 1, 5: 2}, want: "c-b-5 holds replicas of 2 partitions"},
	} {
		t.Run(name, func(t *testing.T) {
			f := Facts{
				Nodes: c.nodes, Wanted: []int32{0}, Brokers: transitions.Known(kafka.Brokers{}, now),
				Partitions: transitions.Known(kafka.Partitions{Replicas: c.held}, now), LogDirs: transitions.Known(dirs, now), Moves: transitions.Pending[Moves](),
			}
			if got, _ := pickEmpty(&f, roll.NoNode()); got.Observed != c.want {
				t.Errorf("the wait says %q, want %q", got.Observed, c.want)
			}
		})
	}
}
