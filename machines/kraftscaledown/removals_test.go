package kraftscaledown_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/clients/kafka"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/transitions"
)

// removal is one case of testdata/removals.yaml.
type removal struct {
	Name                                                       string
	Wanted, Nodes, Left, Holds, Registered, Unregistered, Fail []int32
	Skip, Drain                                                bool
	Unregister, Kept                                           []int32
	// OldMetadata is a metadata level at which Kafka knows no cordons.
	OldMetadata bool
	// Wide is the number of replicas of the partitions that Holds have, at least 1, and Moved the number of partitions moved at the end.
	Wide, Moved int
	// Again are desired from pass Later on.
	Again []int32
	Later int
	// Dead brokers do not answer, and Kafka lists them as fenced. Their pods exist, and their partitions have another replica if Wide
	// is at least 2: a move of the only replica does not end.
	Dead []int32
	// Elsewhere are brokers that also a process outside of the cluster runs: Kafka never lists them as fenced.
	Elsewhere []int32
}

// cluster is a world of nodes and registrations. A node without a pod is stopped, and its broker is fenced one step later.
type cluster struct {
	t       *testing.T
	c       *removal
	now     time.Time
	nodes   map[int32]*node
	fenced  map[int32]bool // registrations
	answers map[machines.RequestID]kafkaversion.Status
	asked   []int32
	// held are the partitions by the broker that they were created on, moving those of them that are being moved. Each pass moves one.
	held, moving map[int32][]kafka.Partition
	cordoned     map[int32]bool
	passes       int
}

func newCluster(t *testing.T, c *removal) *cluster {
	w := &cluster{
		t: t, c: c, now: now, nodes: map[int32]*node{}, fenced: map[int32]bool{}, answers: map[machines.RequestID]kafkaversion.Status{},
		held: map[int32][]kafka.Partition{}, moving: map[int32][]kafka.Partition{}, cordoned: map[int32]bool{},
	}
	for _, id := range c.Holds {
		for i := range int32(3) {
			w.held[id] = append(w.held[id], kafka.Partition{
				Topic: fmt.Sprint("of-", id), Index: i, Replicas: slices.Concat([]int32{id}, c.Wanted[:max(c.Wide, 1)-1]),
			})
		}
	}
	for _, id := range slices.Concat(c.Nodes, c.Left) {
		w.nodes[id] = &node{ID: id, Pod: "pool", Runs: slices.Contains(c.Nodes, id), Wanted: slices.Contains(c.Wanted, id)}
		w.nodes[id].Down = slices.Contains(c.Dead, id)
		w.fenced[id] = (!w.nodes[id].Runs || w.nodes[id].Down) && !slices.Contains(c.Elsewhere, id)
	}
	for _, id := range c.Registered {
		w.fenced[id] = true
	}
	for _, id := range c.Unregistered {
		delete(w.fenced, id)
	}
	return w
}

func (w *cluster) observe(ask machines.ObserveOptions) facts {
	status := w.answers[ask.RequestID]
	f := facts{
		Now: w.now, SessionTimeout: time.Second, Wanted: w.wanted(), Pause: time.Second, EnteredAt: ask.EnteredAt, SkipCheck: w.c.Skip, Drain: w.c.Drain,
		Features: transitions.Known(level(map[bool]int16{true: 25, false: kafka.MetadataCordons}[w.c.OldMetadata]), w.now),
		Moves:    transitions.Known(w.moves(), w.now),
	}
	f.Answer.Status = status
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(w.nodes))) { // from the highest
		if n := w.nodes[id]; !n.Wanted || n.Stopped || n.Draining > 0 {
			f.Nodes = append(f.Nodes, *n)
		}
	}
	cordons := map[int32]bool{}
	partitions, dirs, brokers := kafka.Partitions{Replicas: map[int32]int{}}, map[int32]kafka.LogDirs{}, kafka.Brokers{FencingReported: true}
	for id, n := range w.nodes {
		partitions.Replicas[id] = len(w.held[id])
		if n.Runs && !n.Down {
			cordons[id] = w.cordoned[id]
			dirs[id] = kafka.LogDirs{Broker: id, Dirs: []kafka.LogDir{{Path: "/data", Replicas: partitions.Replicas[id]}}}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.fenced)) {
		fencing := map[bool]kafka.Fencing{true: kafka.Fenced, false: kafka.Unfenced}[w.fenced[id]]
		brokers.Brokers = append(brokers.Brokers, kafka.Broker{ID: id, Fencing: fencing})
	}
	f.Cordons = transitions.Known(cordons, w.now)
	f.Partitions, f.LogDirs, f.Brokers = transitions.Known(partitions, w.now), transitions.Known(dirs, w.now), transitions.Known(brokers, w.now)
	return f
}

// wanted are the ids of the desired brokers.
func (w *cluster) wanted() []int32 {
	if w.c.Later > 0 && w.passes >= w.c.Later {
		return w.c.Again
	}
	return w.c.Wanted
}

func (w *cluster) moves() (out kraftscaledown.Moves) {
	for _, id := range slices.Sorted(maps.Keys(w.held)) {
		if slices.Contains(w.wanted(), id) {
			continue
		}
		r := kafka.Replicas{Broker: id}
		for _, p := range w.held[id] {
			r.Add(p, 0)
		}
		out.Replicas = append(out.Replicas, r)
	}
	for _, id := range slices.Sorted(maps.Keys(w.moving)) {
		for _, p := range w.moving[id] {
			out.Moving.Add(kafka.Reassignment{Topic: p.Topic, Index: p.Index, Replicas: p.Replicas, Removing: []int32{id}})
		}
	}
	return out
}

// move moves the partition, or cancels that.
func (w *cluster) move(m kafka.Move) {
	for id, held := range w.held {
		at := slices.IndexFunc(held, func(p kafka.Partition) bool { return p.Topic == m.Topic && p.Index == m.Index })
		same := func(p kafka.Partition) bool { return p.Name() == held[at].Name() }
		switch {
		case at < 0:
		case len(m.Replicas) == 0:
			w.moving[id] = slices.DeleteFunc(w.moving[id], same)
		case len(m.Replicas) != len(held[at].Replicas), slices.Contains(m.Replicas, id), slices.ContainsFunc(w.moving[id], same):
			w.t.Errorf("%s is moved to %d, and was on %d", held[at].Name(), m.Replicas, held[at].Replicas)
		case !w.cordoned[id] && !w.c.OldMetadata && !w.nodes[id].Down:
			w.t.Errorf("replicas of broker %d are moved before it is cordoned", id)
		default:
			w.moving[id] = append(w.moving[id], held[at])
		}
	}
}

// drain executes the effects of a drain.
func (w *cluster) drain(e kraftscaledown.Effect) {
	switch {
	case e.Drain != nil:
		w.nodes[e.Drain.Broker].Draining = e.Drain.Partitions
	case e.Cordon != nil:
		if n := w.nodes[e.Cordon.Broker]; !n.Runs || n.Down || n.Draining == 0 {
			w.t.Errorf("the cordon of broker %d is changed, which does not run or whose record does not say that it is drained", n.ID)
		}
		w.cordoned[e.Cordon.Broker] = e.Cordon.Cordoned
	case e.EndDrain != nil:
		if w.cordoned[*e.EndDrain] || len(w.moving[*e.EndDrain]) > 0 {
			w.t.Errorf("the drain of broker %d ends while it is cordoned, or replicas are being moved", *e.EndDrain)
		}
		w.nodes[*e.EndDrain].Draining = 0
	}
	for _, m := range e.Move {
		w.move(m)
	}
}

func (w *cluster) execute(e kraftscaledown.Effect, id machines.RequestID) {
	w.drain(e)
	switch {
	case e.Stop != nil:
		n := w.nodes[*e.Stop]
		n.Stopped, n.Runs = true, false
		if len(w.held[n.ID]) > 0 && !w.c.Skip || w.cordoned[n.ID] {
			w.t.Errorf("broker %d is stopped, and holds replicas or is cordoned", n.ID)
		}
	case e.Return != nil:
		w.nodes[*e.Return].Stopped, w.nodes[*e.Return].Runs = false, true
		w.fenced[*e.Return] = w.nodes[*e.Return].Down
	case e.Unregister != nil:
		broker := *e.Unregister
		fenced, registered := w.fenced[broker]
		if n := w.nodes[broker]; !fenced && registered || n != nil && n.Runs {
			w.t.Errorf("broker %d is unregistered and alive", broker)
		}
		w.answers[id] = kafkaversion.Done
		if slices.Contains(w.c.Fail, broker) {
			w.answers[id] = kafkaversion.Refused
			return
		}
		if registered {
			w.asked = append(w.asked, broker)
		}
		delete(w.fenced, broker)
	case e.Release != nil:
		if _, registered := w.fenced[*e.Release]; registered {
			w.t.Errorf("id %d is released and registered", *e.Release)
		}
		delete(w.nodes, *e.Release)
	}
}

// pass lets time pass: brokers without a process are fenced, and replicas are moved.
func (w *cluster) pass() {
	w.now = w.now.Add(time.Second)
	w.passes++
	for id, n := range w.nodes {
		n.Wanted = slices.Contains(w.wanted(), id)
	}
	for id, moving := range w.moving {
		if len(moving) > 0 && (!w.nodes[id].Down || w.c.Wide > 1) {
			w.moving[id] = moving[1:]
			w.held[id] = slices.DeleteFunc(w.held[id], func(p kafka.Partition) bool { return p.Name() == moving[0].Name() })
		}
	}
	for id := range w.fenced {
		if n := w.nodes[id]; n != nil && !n.Runs && !slices.Contains(w.c.Elsewhere, id) {
			w.fenced[id] = true
		}
	}
}

// play runs the machine for a number of passes, and wipes the status before one of them.
func (w *cluster) play(passes, wipeBefore int) {
	lc := machines.Bind(compiled(w.t), machines.Binding[struct{}, *cluster, facts, kraftscaledown.Effect, kraftscaledown.Effect]{
		Name: "removal", Facts: func(_ struct{}, w *cluster, ask machines.ObserveOptions) facts { return w.observe(ask) },
	}).Evaluator(access.Key{})
	var entry *lifecyclev1.Lifecycle
	evaluate := func(needs []transitions.Need) machines.Evaluation[kraftscaledown.Effect] {
		q := machines.EvaluationInput[struct{}, *cluster]{Snapshot: w, UID: "u", Entry: entry, Options: machines.ObserveOptions{
			Needs: needs, Now: w.now, RequestID: machines.RequestIDOf("u", "removal", entry),
		}}
		if entry != nil {
			q.Options.Attempt, q.Options.EnteredAt = entry.Attempt, entry.EnteredAt.Time
		}
		return lc.Evaluate(q)
	}
	for pass := range passes {
		if pass == wipeBefore {
			entry, w.answers = nil, map[machines.RequestID]kafkaversion.Status{}
		}
		w.pass()
		needs := lc.Needs(entry)
		decision := evaluate(needs).Decide()
		if decision.Err != nil {
			w.t.Fatal(decision.Err)
		}
		move := decision.Move
		if move == nil && entry != nil {
			if action, acts := lc.Action(entry.State); acts && decision.MayAct {
				acting := evaluate(slices.Concat(needs, action.Needs)).Act()
				if acting.Err != nil {
					w.t.Fatal(acting.Err)
				}
				for _, e := range acting.Effects {
					w.execute(e, machines.RequestIDOf("u", "removal", entry))
				}
				move = acting.PreconditionFailed
			}
		}
		if move != nil {
			next, err := evaluate(lc.NeedsIn(move.To)).Enter(*move)
			if err != nil {
				w.t.Fatal(err)
			}
			entry = &next
		}
	}
}

// ids that are not free: those of nodes and of registrations.
func (w *cluster) ids() []int32 {
	ids := slices.Concat(slices.Collect(maps.Keys(w.nodes)), slices.Collect(maps.Keys(w.fenced)))
	slices.Sort(ids)
	return slices.Compact(ids)
}

// TestDefinitionRemovals plays every case, and again with the status wiped before each pass: no node, id or registration is lost.
func TestDefinitionRemovals(t *testing.T) {
	data, err := os.ReadFile("testdata/removals.yaml")
	var cases []removal
	if err == nil {
		err = yaml.UnmarshalStrict(data, &cases)
	}
	if err != nil || len(cases) < 10 {
		t.Fatal(len(cases), err)
	}
	const passes = 90
	for i := range cases {
		c := &cases[i]
		t.Run(c.Name, func(t *testing.T) {
			for wipe := -1; wipe < 50; wipe++ {
				w := newCluster(t, c)
				w.play(passes, wipe)
				if diff := cmp.Diff(c.Kept, w.ids()); diff != "" {
					t.Errorf("status wiped before pass %d: ids (-want +got):\n%s", wipe, diff)
				}
				left := 0
				for id := range w.held {
					left += len(w.held[id])
					if w.cordoned[id] || len(w.moving[id]) > 0 || w.nodes[id] != nil && w.nodes[id].Draining > 0 {
						t.Errorf("status wiped before pass %d: the drain of broker %d has not ended", wipe, id)
					}
				}
				if moved := 3*len(c.Holds) - left; moved != c.Moved && (c.Later == 0 || wipe < 0) || moved == 3*len(c.Holds) && c.Later > 0 {
					t.Errorf("status wiped before pass %d: %d partitions were moved, want %d", wipe, moved, c.Moved)
				}
				if diff := cmp.Diff(c.Unregister, w.asked, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("status wiped before pass %d: unregistered (-want +got):\n%s", wipe, diff)
				}
			}
		})
	}
}
