package drain_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/kraftscaledown/drain"
	simulated "github.com/detent-dev/detent/simulator/kafka"
)

// partition of a topic with its replicas.
func partition(topic string, index int32, replicas ...int32) kafka.Partition {
	return kafka.Partition{Topic: topic, Index: index, Replicas: replicas}
}

// input returns the input for brokers 0 to n-1, of which some leave, with these partitions.
func input(n int32, leaving []int32, partitions ...kafka.Partition) *drain.Input {
	in := &drain.Input{Leaving: leaving, Racks: map[int32]string{}}
	for id := range n {
		r, held := kafka.Replicas{Broker: id}, 0
		for _, p := range partitions {
			r.Add(p, 0)
			if slices.Contains(p.Replicas, id) {
				held++
			}
		}
		if slices.Contains(leaving, id) {
			in.Replicas = append(in.Replicas, r)
			continue
		}
		in.Staying = append(in.Staying, drain.Broker{ID: id, Replicas: held})
	}
	return in
}

func racked(in *drain.Input, racks map[int32]string) *drain.Input {
	in.Racks = racks
	for i := range in.Staying {
		in.Staying[i].Rack = racks[in.Staying[i].ID]
	}
	return in
}

func cordoned(in *drain.Input, ids ...int32) *drain.Input {
	for i := range in.Staying {
		in.Staying[i].Cordoned = slices.Contains(ids, in.Staying[i].ID)
	}
	return in
}

func moving(in *drain.Input, moves ...kafka.Reassignment) *drain.Input {
	for _, m := range moves {
		in.Moving.Add(m)
	}
	return in
}

// alive removes the brokers that are not among these from those that get replicas.
func alive(in *drain.Input, ids ...int32) *drain.Input {
	in.Staying = slices.DeleteFunc(in.Staying, func(b drain.Broker) bool { return !slices.Contains(ids, b.ID) })
	return in
}

func restarting(in *drain.Input, ids ...int32) *drain.Input {
	in.Up = ids
	return in
}

func TestMoves(t *testing.T) {
	move := func(topic string, index int32, replicas ...int32) kafka.Move {
		return kafka.Move{Topic: topic, Index: index, Replicas: replicas}
	}
	many := make([]kafka.Partition, 0, 3*drain.MaxMoving)
	for i := range int32(3 * drain.MaxMoving) {
		many = append(many, partition("many", i, 4))
	}
	for name, tc := range map[string]struct {
		in   *drain.Input
		want []kafka.Move
	}{
		"nothing is left": {in: input(5, []int32{4}, partition("a", 0, 0, 1, 2))},
		"the order of the replicas is kept": {
			in: input(5, []int32{4}, partition("a", 0, 4, 1, 2)), want: []kafka.Move{move("a", 0, 0, 1, 2)},
		},
		"the broker with the fewest replicas gets the replica": {
			in:   input(5, []int32{4}, partition("a", 0, 0, 4), partition("a", 1, 1, 4), partition("b", 0, 2, 0)),
			want: []kafka.Move{move("a", 0, 0, 3), move("a", 1, 1, 2)},
		},
		"no replica goes to a broker that leaves": {
			in: input(5, []int32{3, 4}, partition("a", 0, 0, 3, 4)), want: []kafka.Move{move("a", 0, 0, 1, 2)},
		},
		"a partition on two brokers that leave is moved once": {
			in: input(6, []int32{4, 5}, partition("a", 0, 4, 5)), want: []kafka.Move{move("a", 0, 0, 1)},
		},
		"replicas stay in different racks": {
			in:   racked(input(5, []int32{4}, partition("a", 0, 0, 4), partition("b", 0, 1)), map[int32]string{0: "x", 1: "y", 2: "x", 3: "x", 4: "y"}),
			want: []kafka.Move{move("a", 0, 0, 1)},
		},
		"no replica goes to a cordoned broker, even of another rack": {
			in:   cordoned(racked(input(4, []int32{3}, partition("a", 0, 0, 3)), map[int32]string{0: "x", 1: "y", 2: "x"}), 1),
			want: []kafka.Move{move("a", 0, 0, 2)},
		},
		"a cordoned broker gets what no other can": {
			in: cordoned(input(4, []int32{3}, partition("a", 0, 0, 2, 3)), 1), want: []kafka.Move{move("a", 0, 0, 2, 1)},
		},
		"a partition that is being moved is left alone": {
			in: moving(input(5, []int32{4}, partition("a", 0, 0, 1, 4)), kafka.Reassignment{Topic: "a", Replicas: []int32{0, 1, 4}, Adding: []int32{1}, Removing: []int32{4}}),
		},
		"a move to a broker that died is replaced, and the order is kept": {
			in: alive(moving(input(5, []int32{4}, partition("a", 0, 2, 0, 4)),
				kafka.Reassignment{Topic: "a", Replicas: []int32{2, 0, 4}, Adding: []int32{2}, Removing: []int32{4}}), 0, 1, 3),
			want: []kafka.Move{move("a", 0, 1, 0)},
		},
		"a move to a broker that restarts is awaited": {
			in: restarting(alive(moving(input(5, []int32{4}, partition("a", 0, 0, 2, 4)),
				kafka.Reassignment{Topic: "a", Replicas: []int32{0, 2, 4}, Adding: []int32{2}, Removing: []int32{4}}), 0, 1, 3), 2),
		},
		"a move to a broker that leaves too is replaced": {
			in: moving(input(5, []int32{3, 4}, partition("a", 0, 0, 3, 4)),
				kafka.Reassignment{Topic: "a", Replicas: []int32{0, 3, 4}, Adding: []int32{3}, Removing: []int32{4}}),
			want: []kafka.Move{move("a", 0, 0, 1)},
		},
		"a move that somebody else started to a broker that died is left alone": {
			in: alive(moving(input(5, []int32{4}), kafka.Reassignment{Topic: "a", Replicas: []int32{0, 2, 1}, Adding: []int32{2}, Removing: []int32{1}}), 0, 1, 3),
		},
		"a move to a broker that died for which there is no other": {
			in: alive(moving(input(5, []int32{4}, partition("a", 0, 0, 2, 4)),
				kafka.Reassignment{Topic: "a", Replicas: []int32{0, 2, 4}, Adding: []int32{2}, Removing: []int32{4}}), 0),
		},
		"a partition that cannot be moved does not hold up the next": {
			in: input(3, []int32{2}, partition("a", 0, 0, 1, 2), partition("b", 0, 1, 2)), want: []kafka.Move{move("b", 0, 1, 0)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, drain.Moves(tc.in)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := drain.Moves(input(5, []int32{4}, many...)); len(got) != drain.MaxMoving {
		t.Errorf("%d moves at once, want %d", len(got), drain.MaxMoving)
	}
	full := moving(input(5, []int32{4}, many...))
	for i := range int32(drain.MaxMoving) {
		full.Moving.Add(kafka.Reassignment{Topic: "many", Index: i, Replicas: []int32{2, 4}, Adding: []int32{2}, Removing: []int32{4}})
	}
	if got := drain.Moves(full); len(got) != 0 {
		t.Errorf("%d moves beside those in progress, want none", len(got))
	}
	if got := drain.Moves(alive(full, 0, 1, 3)); len(got) != drain.MaxMoving || got[0].Index != 0 || got[len(got)-1].Index != drain.MaxMoving-1 {
		t.Errorf("moves %v, want those in progress to other brokers", got)
	}
	if diff := cmp.Diff([]int32{2}, drain.DeadTargets(full)); diff != "" {
		t.Errorf("dead targets (-want +got):\n%s", diff)
	}
	others := moving(input(5, []int32{4}, many...))
	others.Moving.Total = drain.MaxMoving - 1
	if got := drain.Moves(others); len(got) != 1 {
		t.Errorf("%d moves beside those of somebody else, want 1", len(got))
	}
}

// dead removes the leader of partitions, whose replicas in sync are on dead brokers.
func dead(in *drain.Input, topic string) *drain.Input {
	for _, r := range in.Replicas {
		for i := range r.First {
			if r.First[i].Topic == topic {
				r.First[i].Leader = kafka.NoLeader
			}
		}
	}
	return in
}

// Broker 4 is dead. It has the only replica of more partitions than are moved at once, and others have live replicas.
func TestMovesOffADeadBroker(t *testing.T) {
	all := make([]kafka.Partition, 0, drain.MaxMoving+1)
	for i := range int32(drain.MaxMoving) {
		all = append(all, partition("a-single", i, 4))
	}
	in := dead(input(5, []int32{4}, append(all, partition("orders", 0, 0, 1, 4))...), "a-single")
	want := []kafka.Move{{Topic: "orders", Replicas: []int32{0, 1, 2}}}
	if diff := cmp.Diff(want, drain.Moves(in)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range int32(drain.MaxMoving) { // their moves began before the broker died
		in.Moving.Add(kafka.Reassignment{Topic: "a-single", Index: i, Replicas: []int32{0, 4}, Adding: []int32{0}, Removing: []int32{4}})
	}
	if diff := cmp.Diff(want, drain.Moves(in)); diff != "" {
		t.Errorf("beside moves that do not end (-want +got):\n%s", diff)
	}
}

func TestWaitsOf(t *testing.T) {
	full := func(topic string, removing int32) *drain.Input {
		in := input(5, []int32{4}, partition("a", 0, 0, 1, 4))
		for i := range int32(drain.MaxMoving) {
			in.Moving.Add(kafka.Reassignment{Topic: topic, Index: i, Replicas: []int32{2, 0, removing}, Adding: []int32{2}, Removing: []int32{removing}})
		}
		return in
	}
	for name, tc := range map[string]struct {
		in   *drain.Input
		want drain.Waits
	}{
		"nothing hinders the moves":                {in: input(5, []int32{4}, partition("a", 0, 0, 1, 4))},
		"the moves of the drain take all places":   {in: full("b", 4)},
		"other reassignments take all places":      {in: full("b", 1), want: drain.Waits{Others: drain.MaxMoving}},
		"too few of the brokers that stay are up":  {in: alive(input(4, []int32{3}, partition("a", 0, 0, 1, 3)), 0, 1), want: drain.Waits{Unplaced: []string{"a-0"}}},
		"a partition has no live replica":          {in: dead(input(4, []int32{3}, partition("a", 0, 3), partition("b", 0, 0, 3)), "a"), want: drain.Waits{Leaderless: []string{"a-0"}}},
		"a partition on two brokers is named once": {in: alive(input(4, []int32{2, 3}, partition("a", 0, 2, 3)), 0), want: drain.Waits{Unplaced: []string{"a-0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, drain.WaitsOf(tc.in), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	in := input(3, []int32{2}, partition("b", 0, 0, 1, 2), partition("a", 0, 2, 0, 1), partition("c", 0, 1, 2))
	got := drain.Refusal(in)
	want := "2 brokers stay, and the topics a, b have up to 3 replicas: keep more brokers, or lower the number of replicas of these topics"
	if got == nil || got.Reason != drain.ReasonTooFewBrokers || got.Message != want {
		t.Errorf("refused with %+v, want %q", got, want)
	}
	if got := drain.Refusal(input(4, []int32{3}, partition("a", 0, 0, 1, 3))); got != nil {
		t.Errorf("refused although enough brokers stay: %+v", got)
	}
}

func TestCancellations(t *testing.T) {
	in := moving(input(5, []int32{4}),
		kafka.Reassignment{Topic: "a", Index: 1, Replicas: []int32{0, 4}, Adding: []int32{0}, Removing: []int32{4}},
		kafka.Reassignment{Topic: "b", Replicas: []int32{0, 1}, Adding: []int32{0}, Removing: []int32{1}})
	if diff := cmp.Diff([]kafka.Move{{Topic: "a", Index: 1}}, drain.Cancellations(in)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMovesDrainSimulatedCluster repeats the moves on the simulated Kafka, interrupted at any time, until the brokers are empty.
func TestMovesDrainSimulatedCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := simulated.New("a-cluster", []simulated.Binary{{Version: "4.1.2"}}, simulated.DefaultSettings())
		brokers := int32(rapid.IntRange(4, 7).Draw(t, "brokers"))
		c.SetVoters(0)
		for id := range brokers {
			if err := c.StartNode(id, simulated.Start{Version: "4.1.2", Broker: true, Controller: id == 0, Host: fmt.Sprint("b", id), Port: 9091}, c.Now); err != nil {
				t.Fatal(err)
			}
		}
		c.Tick(c.Now + 60_000)
		ids := make([]int32, brokers)
		for i := range ids {
			ids[i] = int32(i)
		}
		for i := range int32(rapid.IntRange(1, 30).Draw(t, "partitions")) {
			replicas := rapid.Permutation(ids).Draw(t, "replicas")
			c.CreatePartition("t", i, 1, replicas[:rapid.IntRange(1, 3).Draw(t, "wide")]...)
		}
		leaving := ids[3:]
		if extra := len(leaving) - 1; extra > 0 {
			leaving = leaving[rapid.IntRange(0, extra).Draw(t, "kept"):]
		}
		m, before := simulated.Memory{Cluster: c}, widths(c)
		for step := 0; ; step++ {
			in := read(t, m, ids, leaving)
			if p := drain.Refusal(in); p != nil {
				t.Fatal(p.Message)
			}
			left := 0
			for _, r := range in.Replicas {
				left += r.Total
			}
			if left == 0 {
				break
			}
			if step > 50 {
				t.Fatalf("%d replicas left, %d partitions moving", left, in.Moving.Total)
			}
			if moves := drain.Moves(in); len(moves) > 0 {
				if err := m.Reassign(t.Context(), moves); err != nil {
					t.Fatal(err)
				}
			}
			c.Tick(c.Now + int64(rapid.IntRange(0, 1_500).Draw(t, "pause")))
		}
		if diff := cmp.Diff(before, widths(c)); diff != "" {
			t.Fatalf("numbers of replicas (-before +after):\n%s", diff)
		}
	})
}

func widths(c *simulated.Cluster) (out []int) {
	for i := range c.Partitions {
		out = append(out, len(c.Partitions[i].Replicas))
	}
	return out
}

func read(t *rapid.T, m simulated.Memory, ids, leaving []int32) *drain.Input {
	in := &drain.Input{Leaving: leaving}
	partitions, err := m.Partitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if !slices.Contains(leaving, id) {
			in.Staying = append(in.Staying, drain.Broker{ID: id, Replicas: partitions.Replicas[id]})
			continue
		}
		r, err := m.Replicas(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		in.Replicas = append(in.Replicas, r)
	}
	if in.Moving, err = m.Reassignments(t.Context()); err != nil {
		t.Fatal(err)
	}
	return in
}
