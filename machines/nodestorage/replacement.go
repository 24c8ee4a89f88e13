package nodestorage

import (
	"fmt"
	"slices"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// anyReplacement is satisfied while the storage of a node is to be replaced.
var anyReplacement = guard{
	Name: "any-replacement", Doc: "the replacement of the storage of a node is requested or in progress",
	Expected: "the annotation strimzi.io/delete-pod-and-pvc on a pod",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		return transitions.If(f.first(func(n *Node) bool { return n.Replacement != None }) != nil, "no replacement is requested")
	},
}

// inReplacement is satisfied while the storage of the selected node is to be replaced.
var inReplacement = guard{
	Name: "in-replacement", Doc: "the replacement of the storage of the selected node is requested or in progress",
	Expected: "the annotation strimzi.io/delete-pod-and-pvc on the pod of the selected node",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.Node(m.Node)
		return transitions.If(n != nil && n.Replacement != None, "its replacement is not requested")
	},
}

// mayReplace selects the node whose storage is replaced next. pickReplacement evaluates it.
var mayReplace = guard{
	Name: "may-replace", Doc: "the storage of a node can be replaced: a restart of it is safe now, and the other nodes hold all its data",
	Expected: "a node whose restart is safe and whose data the other nodes hold", Needs: roll.ServingNeeds(),
}

// pickReplacement selects the first node, by id, that can be replaced now. One whose replacement has begun comes before all others.
func pickReplacement(f *Facts, _ roll.Data) (transitions.Verdict, roll.Data) {
	if n := f.first(func(n *Node) bool { return n.Replacement != None && n.Replacement != Requested }); n != nil {
		return mayGo(f, n)
	}
	first := transitions.Deny("no replacement is requested")
	found := false
	for i := range f.Nodes {
		if f.Nodes[i].Replacement != Requested {
			continue
		}
		verdict, data := mayGo(f, &f.Nodes[i])
		if verdict.Answer == transitions.Yes {
			return verdict, data
		}
		if !found {
			first, found = verdict, true
		}
	}
	return first, roll.NoNode()
}

// mayGo judges one node. Nothing is taken away from a node that is being deleted already.
func mayGo(f *Facts, n *Node) (transitions.Verdict, roll.Data) {
	data := roll.Data{Node: n.ID}
	if n.Replacement != Requested && n.Replacement != Begun {
		return transitions.Allow(), data
	}
	verdict := replaceable.Verdict(f, data)
	if verdict.Answer == transitions.Yes {
		return verdict, data
	}
	return transitions.Verdict{Answer: verdict.Answer, Observed: n.Pod + ": " + verdict.Observed, Pending: verdict.Pending}, roll.NoNode()
}

// replaceable are all preconditions of deleting the claims and the pod of a node.
var replaceable = transitions.All(replacementOpen, restartSafe, metadataHeld, replicasHeld)

var replacementOpen = guard{
	Name: "replacement-open", Doc: "the replacement of the selected node is requested, and its spec can be applied",
	Expected: "a request, and a spec that can be applied",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		switch n := f.Node(m.Node); {
		case n == nil:
			return transitions.Deny("the node does not exist")
		case n.Replacement == None:
			return transitions.Deny("its replacement is not requested")
		default:
			return n.Impediment.Verdict()
		}
	},
}

// restartSafe is the guard of every restart: clients notice the replacement of a node as they notice its restart.
var restartSafe = guard{
	Name: "restart-safe", Doc: "the selected node can be restarted safely now",
	Expected: "every other node available, a quorum and enough in-sync replicas without the node", Needs: roll.ServingNeeds(),
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.Roll.Node(m.Node)
		if n == nil {
			return transitions.Deny("the node does not exist")
		}
		return roll.Safe(&f.Roll, n)
	},
}

// metadataHeld protects the metadata log of a node that may run. Once it is empty, it may vote with voters that lack a committed
// record; and while it is down, the others must elect a leader to prove that they hold everything.
var metadataHeld = guard{
	Name: "metadata-held", Doc: "the node is not a voter, or a majority of all voters holds all committed metadata without it",
	Expected: "a majority of the controllers to be caught up without the node", Needs: []transitions.Need{roll.NeedQuorum},
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		return f.unless(m, isNoController, func(n *Node) transitions.Verdict {
			quorum, known := f.Roll.Quorum.Get()
			switch {
			case !known:
				return f.Roll.Quorum.Gap()
			case quorum.Leader == kafka.NoLeader:
				return transitions.Deny("the quorum has no leader")
			}
			check := committedWithout(f, quorum, n.ID)
			switch {
			case 2*len(check.CaughtUp) > len(quorum.Voters):
				return transitions.Allow()
			case len(check.Behind) == 0:
				return transitions.Deny(fmt.Sprintf("without controller %d the other controllers are no majority", n.ID))
			}
			return transitions.Deny("not caught up: " + controllers(check.Behind))
		})
	},
}

// replicasHeld protects the data of the partitions of a broker that may run and be in sync. That they stay available is part of
// restart-safe.
var replicasHeld = guard{
	Name: "replicas-held", Doc: "the node is not a broker, or each of its partitions has another replica in sync",
	Expected: "each partition of the broker in sync on other brokers", Needs: []transitions.Need{roll.NeedPartitions},
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		return f.unless(m, isNoBroker, func(n *Node) transitions.Verdict {
			partitions, known := f.Roll.Partitions.Get()
			if !known {
				return f.Roll.Partitions.Gap()
			}
			return heldWithout(partitions.Suspect, n.ID)
		})
	},
}

func heldWithout(suspect []kafka.Partition, broker int32) transitions.Verdict {
	var alone, single []string
	for _, p := range suspect {
		elsewhere := func(id int32) bool { return id != broker }
		switch {
		case !slices.Contains(p.Replicas, broker), slices.ContainsFunc(p.ISR, elsewhere):
		case len(p.Replicas) == 1:
			single = append(single, p.Name())
		default:
			alone = append(alone, p.Name())
		}
	}
	switch {
	case len(single) > 0:
		return transitions.Deny(fmt.Sprintf("broker %d has the only replica of %s: add replicas, or delete the topics", broker, roll.Names(single)))
	case len(alone) > 0:
		return transitions.Deny(fmt.Sprintf("no replica is in sync on another broker than %d of %s", broker, roll.Names(alone)))
	}
	return transitions.Allow()
}

// storageCleared is satisfied when neither the old pod nor an old claim is left, so that the node can only start empty.
var storageCleared = guard{
	Name: "storage-cleared", Doc: "the pod and the claims of the selected node that are replaced do not exist any more",
	Expected: "the old pod and its claims to be gone",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.Node(m.Node)
		switch {
		case n == nil:
			return transitions.Deny("the node does not exist")
		case n.Replacement == Cleared:
			return transitions.Allow()
		}
		return transitions.Deny("the old pod of " + n.Pod + " or one of its claims exists")
	},
}

// replaceStorage records what is replaced, deletes the claims and evicts the pod. The order is that of controllers/kafka/children.
var replaceStorage = &machines.Action[Facts, roll.Data, Effect]{
	Name: "replace-storage", Doc: "records the pod and the claims of the selected node, then deletes the claims and evicts the pod",
	Precondition: replaceable, OnPreconditionFailed: AwaitingReplacement,
	Effects: func(f *Facts, m roll.Data) []Effect {
		if n := f.Node(m.Node); n != nil && (n.Replacement == Requested || n.Replacement == Begun) {
			return []Effect{{Node: n.ID, Replace: true}}
		}
		return nil
	},
}
