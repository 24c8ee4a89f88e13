package kraftscaledown

import (
	"slices"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kraftscaledown/drain"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// Needs of a drain.
const (
	// NeedMoves are the partitions of the brokers that leave, and all reassignments in progress.
	NeedMoves transitions.Need = "moves"
	// NeedCordons are the cordons of the brokers that leave or are drained, and of those that may get their replicas, as each reports its own.
	NeedCordons transitions.Need = "cordons"
)

// Moves is what a drain has to move, and what is being moved.
type Moves struct {
	// Replicas of the brokers that leave.
	Replicas []kafka.Replicas `json:"replicas,omitempty"`
	// Moving are all reassignments in progress.
	Moving kafka.Reassignments `json:"moving"`
}

// drains reports whether the replicas of the node are to be moved away. A node without a process cannot be cordoned or read.
func (f *Facts) drains(n *Node) bool {
	return n != nil && f.Drain && !n.Wanted && n.Runs && !n.Stopped
}

// cordoned returns the verdict on whether the broker gets no new replicas, as it reports itself.
func (f *Facts) cordoned(n *Node) transitions.Verdict {
	all, known := f.Cordons.Get()
	if !known {
		return f.Cordons.Gap()
	}
	set, answered := all[n.ID]
	if !answered {
		return transitions.Verdict{Observed: n.Pod + " does not report whether it is cordoned"}
	}
	return transitions.If(set, n.Pod+" is not cordoned")
}

// input of the planner for the replicas of these brokers. A desired broker that is fenced gets no replica now,
// and one that is cordoned only if no other can.
func (f *Facts) input(of ...int32) *drain.Input {
	partitions, _ := f.Partitions.Get()
	cordons, _ := f.Cordons.Get()
	in := f.inProgress(of...)
	for i := range in.Staying {
		b := &in.Staying[i]
		b.Replicas, b.Cordoned = partitions.Replicas[b.ID], cordons[b.ID]
	}
	return in
}

// inProgress returns the input of the planner without what it needs only to choose a broker.
func (f *Facts) inProgress(of ...int32) *drain.Input {
	moves, _ := f.Moves.Get()
	brokers, _ := f.Brokers.Get()
	in := &drain.Input{Racks: map[int32]string{}, Moving: moves.Moving}
	for _, r := range moves.Replicas {
		if slices.Contains(of, r.Broker) {
			in.Replicas = append(in.Replicas, r)
		}
	}
	for i := range f.Nodes {
		if !f.Nodes[i].Wanted {
			in.Leaving = append(in.Leaving, f.Nodes[i].ID)
		}
	}
	for _, b := range brokers.Brokers {
		if b.Rack != "" {
			in.Racks[b.ID] = b.Rack
		}
		if slices.Contains(f.Wanted, b.ID) && b.Fencing != kafka.Fenced {
			in.Staying = append(in.Staying, drain.Broker{ID: b.ID, Rack: b.Rack})
		}
	}
	for _, id := range f.Wanted {
		if !slices.Contains(f.Down, id) {
			in.Up = append(in.Up, id)
		}
	}
	return in
}

// refusal returns why the brokers that leave cannot be drained. A desired broker that is fenced, or not started yet, counts as one
// that stays: the drain waits for it.
func (f *Facts) refusal() *transitions.Problem {
	moves, _ := f.Moves.Get()
	in := &drain.Input{Replicas: moves.Replicas}
	for _, id := range f.Wanted {
		in.Staying = append(in.Staying, drain.Broker{ID: id})
	}
	return drain.Refusal(in)
}

// DrainRefusedBecause begins what the status shows of a drain that is refused while the lifecycle has something else to do.
const DrainRefusedBecause = "; the drain is refused: "

// drainRefused returns why a drain that is requested does not begin; nil if nothing is known that prevents it.
func (f *Facts) drainRefused() *transitions.Problem {
	requested := slices.ContainsFunc(f.Nodes, func(n Node) bool { return f.drains(&n) && n.Draining == 0 })
	if _, known := f.Moves.Get(); !requested || !known {
		return nil
	}
	return f.refusal()
}

// beside returns what follows the text of another wait.
func beside(refused *transitions.Problem) string {
	if refused == nil {
		return ""
	}
	return DrainRefusedBecause + refused.Message
}

// cancellations end the moves that take replicas off the broker.
func (f *Facts) cancellations(id int32) []kafka.Move {
	moves, _ := f.Moves.Get()
	return drain.Cancellations(&drain.Input{Leaving: []int32{id}, Moving: moves.Moving})
}

// drainOver chooses a node whose drain was begun and is not to continue. pickDrainOver evaluates it. A node without a process is not
// chosen: its cordon can be lifted only if it runs again, and its replicas may still be moved away.
var drainOver = guard{Name: "drain-withdrawn", Doc: "the drain of a node that runs was begun, and is not requested any more", Expected: "a drain to end"}

func pickDrainOver(f *Facts, _ roll.Data) (transitions.Verdict, roll.Data) {
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Draining > 0 && n.Runs && !f.drains(n) {
			return transitions.Allow(), roll.Data{Node: n.ID}
		}
	}
	return transitions.Deny("every drain that was begun continues"), roll.NoNode()
}

// drainable chooses the broker whose replicas are moved next: the one whose drain was begun, else the first in the order of removal
// that holds replicas, one whose drain may never end after the others. pickDrainable evaluates it.
var drainable = guard{
	Name: "broker-to-drain", Doc: "a drain is requested, a broker that leaves holds replicas, and the brokers that stay can keep the replication factor of every topic",
	Needs: []transitions.Need{roll.NeedBrokers, roll.NeedPartitions, NeedLogDirs, NeedMoves}, Expected: "a broker to drain",
}

func pickDrainable(f *Facts, _ roll.Data) (transitions.Verdict, roll.Data) {
	var first *Node
	verdict := transitions.Deny("no broker is to be drained")
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch {
		case !f.drains(n):
			continue
		case n.Draining > 0:
			return transitions.Allow(), roll.Data{Node: n.ID}
		}
		switch v := f.unassigned(n); {
		case v.Answer == transitions.Unknown:
			verdict = v
		case v.Answer == transitions.No && (first == nil || f.hindered(first) && !f.hindered(n)):
			first = n
		}
	}
	if first == nil {
		return verdict, roll.NoNode()
	}
	if _, known := f.Moves.Get(); !known {
		return f.Moves.Gap(), roll.NoNode()
	}
	return f.refusal().Verdict(), roll.Data{Node: first.ID}
}

// drainPossible says no only if nothing else is left to do: brokers that were emptied otherwise are removed although the drain of
// others is refused.
var drainPossible = guard{
	Name: "drain-possible", Doc: "the brokers that stay can keep the replication factor of every topic, or a broker can be removed without a drain",
	Needs: []transitions.Need{roll.NeedBrokers, roll.NeedPartitions, NeedMoves}, Expected: "enough brokers for the replicas of every topic",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		other := len(f.Nodes) == 0
		for i := range f.Nodes {
			other = other || !f.drains(&f.Nodes[i]) || f.Nodes[i].Draining > 0
		}
		if other {
			return transitions.Allow()
		}
		for i := range f.Nodes {
			if v := f.unassigned(&f.Nodes[i]); v.Answer != transitions.No {
				return v
			}
		}
		brokers, known := f.Brokers.Get()
		if !known {
			return f.Brokers.Gap()
		}
		if len(f.past(brokers)) > 0 {
			return transitions.Allow()
		}
		if _, known := f.Moves.Get(); !known {
			return f.Moves.Gap()
		}
		return f.refusal().Verdict()
	},
}

var drainRequested = guard{
	Name: "drain-requested", Doc: "the selected broker runs, is not desired, and its drain is requested", Expected: "the drain of the selected broker to be requested",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		return transitions.If(f.drains(f.node(m.Node)), f.name(m.Node)+" is not to be drained")
	},
}

// enoughStay ends a drain that cannot end any more because further brokers leave.
var enoughStay = guard{
	Name: "enough-brokers-stay", Doc: "the brokers that stay can keep the replication factor of every topic", Needs: []transitions.Need{NeedMoves},
	Expected: "enough brokers for the replicas of every topic",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		if _, known := f.Moves.Get(); !known {
			return f.Moves.Gap()
		}
		return f.refusal().Verdict()
	},
}

// selectedDrained is selectedEmpty in a drain: it names the brokers and the partitions because of which the drain may not end.
var selectedDrained = guard{
	Name: selectedEmpty.Name, Doc: selectedEmpty.Doc, Needs: append(evidence(), NeedMoves), Expected: selectedEmpty.Expected,
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		v := selectedEmpty.Evaluate(f, m)
		if v.Answer == transitions.No {
			for _, d := range f.delays(m.Node) {
				v.Observed += ", and " + d.Message
			}
		}
		return v
	},
}

// notDraining holds a node back from its stop: a cordon can be lifted only while the broker runs.
var notDraining = guard{
	Name: "not-drained", Doc: "no drain of the selected broker was begun, or it was ended", Expected: "the drain of the broker to have ended",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.node(m.Node)
		return transitions.If(n == nil || n.Draining == 0, f.name(m.Node)+" is being drained")
	},
}

// cordonSet is satisfied by a Kafka that does not know cordons. A broker that is down cannot be cordoned, and gets no new replicas as
// long as others are alive.
var cordonSet = guard{
	Name: "broker-cordoned", Doc: "the record says that the selected broker is drained, and it is cordoned if the metadata level permits it (4.3-IV0) and it is not down",
	Needs: []transitions.Need{kafkaversion.NeedFeatures, NeedCordons, roll.NeedBrokers}, Expected: "the broker to report that it is cordoned",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.node(m.Node)
		if n == nil || n.Draining == 0 {
			return transitions.Deny("the record of " + f.name(m.Node) + " does not say that it is drained")
		}
		switch _, known := f.Features.Get(); {
		case !known:
			return f.Features.Gap()
		case f.cordonless():
			return transitions.Allow()
		}
		v := f.cordoned(n)
		if v.Answer == transitions.Unknown && f.down(n) {
			return transitions.Allow()
		}
		return v
	},
}

// cordon remembers the drain in the record before it changes anything, so that the drain can be ended after a crash.
var cordon = &machines.Action[Facts, roll.Data, Effect]{
	Name: "cordon", Doc: "remembers in the record that the broker is drained, then cordons it if the metadata level permits it",
	Needs:      []transitions.Need{roll.NeedPartitions, kafkaversion.NeedFeatures, NeedCordons},
	ResolvedBy: NeedCordons, Acquires: []string{heldDrain},
	Effects: func(f *Facts, m roll.Data) []Effect {
		n := f.node(m.Node)
		partitions, known := f.Partitions.Get()
		switch {
		case !f.drains(n):
			return nil
		case n.Draining == 0 && !known:
			return nil
		case n.Draining == 0:
			return []Effect{{Drain: &Drain{Broker: n.ID, Partitions: max(1, partitions.Replicas[n.ID])}}}
		}
		if _, known := f.Features.Get(); !known || f.cordonless() || f.cordoned(n).Answer != transitions.No {
			return nil
		}
		return []Effect{{Cordon: &kafka.Cordon{Broker: n.ID, Cordoned: true}}}
	},
}

var moveReplicas = &machines.Action[Facts, roll.Data, Effect]{
	Name: "move-replicas", Doc: "requests the next moves of replicas to brokers that stay",
	Needs:        []transitions.Need{roll.NeedBrokers, roll.NeedPartitions, NeedCordons, NeedMoves},
	Precondition: cordonSet, OnPreconditionFailed: AwaitingEmpty, ResolvedBy: roll.NeedPartitions, Acquires: []string{heldDrain},
	Effects: func(f *Facts, m roll.Data) []Effect {
		_, brokers := f.Brokers.Get()
		_, partitions := f.Partitions.Get()
		_, known := f.Moves.Get()
		if !brokers || !partitions || !known {
			return nil
		}
		if moves := drain.Moves(f.input(m.Node)); len(moves) > 0 {
			return []Effect{{Move: moves}}
		}
		return nil
	},
}

// drained counts the partitions that were moved off the broker, of those that it had when its drain began. It needs no fact,
// because a cluster without a broker that leaves would be asked for all its partitions.
func drained(f *Facts, m roll.Data) machines.Count {
	n := f.node(m.Node)
	if n == nil || n.Draining == 0 {
		return machines.Count{}
	}
	if n.Held == nil {
		return machines.Count{Unknown: true}
	}
	return machines.Count{Done: max(0, n.Draining-*n.Held), Total: n.Draining, Current: n.Pod}
}

// cordonless reports whether the metadata level is known and permits no cordon.
func (f *Facts) cordonless() bool {
	features, known := f.Features.Get()
	return known && features.Level(kafka.MetadataVersion) < kafka.MetadataCordons
}
