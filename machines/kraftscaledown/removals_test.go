package kraftscaledown_test

import (
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
	Skip                                                       bool
	Unregister, Kept                                           []int32
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
}

func newCluster(t *testing.T, c *removal) *cluster {
	w := &cluster{t: t, c: c, now: now, nodes: map[int32]*node{}, fenced: map[int32]bool{}, answers: map[machines.RequestID]kafkaversion.Status{}}
	for _, id := range slices.Concat(c.Nodes, c.Left) {
		w.nodes[id] = &node{ID: id, Pod: "pool", Runs: slices.Contains(c.Nodes, id), Wanted: slices.Contains(c.Wanted, id)}
		w.fenced[id] = !w.nodes[id].Runs
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
	f := facts{Now: w.now, SessionTimeout: time.Second, Wanted: w.c.Wanted, Pause: time.Second, EnteredAt: ask.EnteredAt, SkipCheck: w.c.Skip}
	f.Answer.Status = status
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(w.nodes))) { // from the highest
		if n := w.nodes[id]; !n.Wanted {
			f.Nodes = append(f.Nodes, *n)
		}
	}
	partitions, dirs, brokers := kafka.Partitions{Replicas: map[int32]int{}}, map[int32]kafka.LogDirs{}, kafka.Brokers{FencingTold: true}
	for id, n := range w.nodes {
		if slices.Contains(w.c.Holds, id) {
			partitions.Replicas[id] = 1
		}
		if n.Runs {
			dirs[id] = kafka.LogDirs{Broker: id, Dirs: []kafka.LogDir{{Path: "/data", Replicas: partitions.Replicas[id]}}}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.fenced)) {
		fencing := map[bool]kafka.Fencing{true: kafka.Fenced, false: kafka.Unfenced}[w.fenced[id]]
		brokers.Brokers = append(brokers.Brokers, kafka.Broker{ID: id, Fencing: fencing})
	}
	f.Partitions, f.LogDirs, f.Brokers = transitions.Known(partitions, w.now), transitions.Known(dirs, w.now), transitions.Known(brokers, w.now)
	return f
}

func (w *cluster) execute(e kraftscaledown.Effect, id machines.RequestID) {
	switch {
	case e.Stop != nil:
		n := w.nodes[*e.Stop]
		n.Stopped, n.Runs = true, false
		if slices.Contains(w.c.Holds, n.ID) && !w.c.Skip {
			w.t.Errorf("broker %d is stopped and holds replicas", n.ID)
		}
	case e.Return != nil:
		w.nodes[*e.Return].Stopped, w.nodes[*e.Return].Runs = false, true
		w.fenced[*e.Return] = false
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

// pass lets time pass: brokers without a process are fenced.
func (w *cluster) pass() {
	w.now = w.now.Add(time.Second)
	for id := range w.fenced {
		if n := w.nodes[id]; n != nil && !n.Runs {
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
	const passes = 60
	for i := range cases {
		c := &cases[i]
		t.Run(c.Name, func(t *testing.T) {
			for wipe := -1; wipe < 30; wipe++ {
				w := newCluster(t, c)
				w.play(passes, wipe)
				if diff := cmp.Diff(c.Kept, w.ids()); diff != "" {
					t.Errorf("status wiped before pass %d: ids (-want +got):\n%s", wipe, diff)
				}
				if diff := cmp.Diff(c.Unregister, w.asked, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("status wiped before pass %d: unregistered (-want +got):\n%s", wipe, diff)
				}
			}
		})
	}
}
