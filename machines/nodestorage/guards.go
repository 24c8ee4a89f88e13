package nodestorage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

type guard = transitions.Guard[Facts, roll.Data]

// anyLost starts an attempt for the first node that has lost a volume. pickLost evaluates it.
var anyLost = guard{
	Name: "any-storage-lost", Doc: "the init container of a pod reports that a persistent volume which held data is empty",
	Expected: "a persistent volume that held data and is empty",
}

func pickLost(f *Facts, _ roll.Data) (transitions.Verdict, roll.Data) {
	n := f.lost()
	if n == nil {
		return transitions.Deny("no volume is known to be lost"), roll.NoNode()
	}
	return transitions.Allow(), roll.Data{Node: n.ID}
}

// lostBeside starts an attempt for another node once nothing is left to do for the selected one. pickLostBeside evaluates it.
var lostBeside = guard{
	Name: "storage-lost-beside", Doc: "the record of the selected node permits formatting, and another node has lost a volume",
	Expected: "a persistent volume of another node that held data and is empty",
}

func pickLostBeside(f *Facts, m roll.Data) (transitions.Verdict, roll.Data) {
	if v := recordAllows.Verdict(f, m); v.Answer != transitions.Yes {
		return v, m
	}
	return pickLost(f, m)
}

// storageLost requires a current report of the init container: a pod that is being replaced may find its volume.
var storageLost = guard{
	Name: "storage-lost", Doc: "the init container of the selected node reports an empty volume, and its record forbids formatting",
	Expected: "the report of the init container on the volumes of the node",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.Node(m.Node)
		if n == nil {
			return transitions.Deny("the node does not exist")
		}
		return transitions.If(n.Storage == Lost, n.Pod+" does not report an empty volume now")
	},
}

// storageKept is also satisfied for a node that does not exist any more: there is nothing to hold for. A node whose storage is being
// replaced does not keep what it runs on.
var storageKept = guard{
	Name: "storage-kept", Doc: "the selected node runs on its volumes and its record forbids formatting again, or it does not exist any more",
	Expected: "the node to run on its volumes and to register",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.Node(m.Node)
		if n == nil || n.Storage == Kept && (n.Replacement == None || n.Replacement == Requested) {
			return transitions.Allow()
		}
		saw := n.Pod + " has not registered on its volumes yet"
		if n.Trouble != nil {
			saw += ": " + n.Trouble.Message
		}
		return transitions.Deny(saw)
	},
}

var recordAllows = guard{
	Name: "record-allows", Doc: "the record of the selected node permits formatting", Expected: "format: allowed in the record of the node",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.Node(m.Node)
		return transitions.If(n != nil && n.Storage == Allowed, "the record says format: done")
	},
}

// metadataElsewhere protects the metadata log. An empty voter and the other voters that lack a committed record must never form a
// majority. This is guaranteed as long as a majority of the other voters has the record.
var metadataElsewhere = guard{
	Name: "metadata-elsewhere", Doc: "the node is not a voter, or a majority of the other voters holds all committed metadata",
	Expected: "a majority of the other controllers to be caught up", Needs: []transitions.Need{roll.NeedQuorum},
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		return f.unless(m, isNoController, func(n *Node) transitions.Verdict {
			quorum, known := f.Roll.Quorum.Get()
			switch {
			case !known:
				return f.Roll.Quorum.Gap()
			case f.Roll.Quorum.At().Before(n.DownSince):
				return transitions.Deny("the quorum has not been observed since " + n.Pod + " went down")
			}
			return caughtUpWithout(f, quorum, n)
		})
	},
}

func isNoController(n *Node) bool { return !n.Controller }

func isNoBroker(n *Node) bool { return !n.Broker }

// unless judges the selected node, which must exist, unless it is exempt.
func (f *Facts) unless(m roll.Data, exempt func(*Node) bool, judge func(*Node) transitions.Verdict) transitions.Verdict {
	n := f.Node(m.Node)
	switch {
	case n == nil:
		return transitions.Deny("the node does not exist")
	case exempt(n):
		return transitions.Allow()
	}
	return judge(n)
}

func caughtUpWithout(f *Facts, quorum kafka.Quorum, n *Node) transitions.Verdict {
	switch quorum.Leader {
	case kafka.NoLeader:
		return transitions.Deny("the quorum has no leader")
	case n.ID:
		return transitions.Deny(fmt.Sprintf("controller %d is still reported as the leader", n.ID))
	}
	check := committedWithout(f, quorum, n.ID)
	if others := len(check.CaughtUp) + len(check.Behind); 2*len(check.CaughtUp) > others {
		return transitions.Allow()
	}
	if len(check.Behind) == 0 {
		return transitions.Deny("there is no other controller that could hold the metadata")
	}
	return transitions.Deny("not caught up: " + controllers(check.Behind))
}

// committedWithout returns which of the other voters hold all committed records.
func committedWithout(f *Facts, quorum kafka.Quorum, id int32) kafka.QuorumCheck {
	floors := make(map[int32]int64, len(quorum.Voters))
	for _, v := range quorum.Voters {
		floors[v.ID] = quorum.HighWatermark
	}
	return kafka.QuorumSafeWithout(quorum.Demanding(floors), id, f.Roll.Now.UnixMilli(), f.Roll.FetchTimeout)
}

func controllers(ids []int32) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = fmt.Sprintf("controller %d", id)
	}
	return roll.Names(names)
}

// replicasElsewhere protects the partitions. A broker in an ISR would be assumed to hold what it has lost. A partition without a
// replica in sync may have lost its last one with this volume.
var replicasElsewhere = guard{
	Name: "replicas-elsewhere", Doc: "the node is not a broker, or it is in the ISR of no partition and each of its partitions is in sync on another broker",
	Expected: "the broker to be in no ISR, and each of its partitions to be in sync on another broker", Needs: []transitions.Need{roll.NeedPartitions},
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		return f.unless(m, isNoBroker, func(n *Node) transitions.Verdict {
			partitions, known := f.Roll.Partitions.Get()
			switch {
			case !known:
				return f.Roll.Partitions.Gap()
			case f.Roll.Partitions.At().Before(n.DownSince):
				return transitions.Deny("the partitions have not been observed since " + n.Pod + " went down")
			}
			return outOfEveryISR(partitions, n.ID)
		})
	},
}

func outOfEveryISR(partitions kafka.Partitions, broker int32) transitions.Verdict {
	healthy := partitions.Replicas[broker] // all partitions counted here have all their replicas in the ISR
	var in, alone []string
	for _, p := range partitions.Suspect {
		if !slices.Contains(p.Replicas, broker) {
			continue
		}
		healthy--
		switch {
		case slices.Contains(p.ISR, broker):
			in = append(in, p.Name())
		case len(p.ISR) == 0:
			alone = append(alone, p.Name())
		}
	}
	switch {
	case len(in) > 0:
		return transitions.Deny(fmt.Sprintf("broker %d is in the ISR of %s", broker, roll.Names(in)))
	case healthy > 0:
		return transitions.Deny(fmt.Sprintf("broker %d is in the ISR of partitions that have every replica in sync", broker))
	case len(alone) > 0:
		return transitions.Deny("no replica is in sync of " + roll.Names(alone))
	}
	return transitions.Allow()
}

// approved is satisfied for one node: an approval names the attempt and the pod, so that it never covers a node that is lost
// later.
var approved = guard{
	Name: "approved", Doc: "the formatting of this node was approved for this attempt",
	Expected: "the annotation detent.dev/approve: format-storage=<attempt id>/<pod>",
	Evaluate: func(f *Facts, m roll.Data) transitions.Verdict {
		n := f.Node(m.Node)
		switch {
		case n == nil:
			return transitions.Deny("the node does not exist")
		case f.Attempt == nil:
			return transitions.Deny(f.remedy(n, "formatting it; the command to approve it follows"))
		}
		want := f.Attempt.ID + "/" + n.Pod
		if f.Approved == want {
			return transitions.Allow()
		}
		saw := ""
		if f.Approved != "" {
			saw = "the approval is for " + f.Approved + ", not for " + want + ". "
		}
		return transitions.Deny(saw + f.remedy(n, fmt.Sprintf("formatting it: kubectl annotate kafka %s -n %s --overwrite detent.dev/approve=format-storage=%s", f.Cluster, f.Namespace, want)))
	},
}

// remedy describes which node has lost what, which other nodes wait for their turn, and both remedies.
func (f *Facts) remedy(n *Node, approve string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (node %d) has lost its storage", n.Pod, n.ID)
	if len(n.Directories) > 0 {
		b.WriteString(": nothing is left in " + strings.Join(n.Directories, ", "))
	}
	b.WriteString(". ")
	var others []string
	for i := range f.Nodes {
		if o := &f.Nodes[i]; o.ID != n.ID && o.Storage == Lost {
			others = append(others, o.Pod)
		}
	}
	if len(others) > 0 {
		b.WriteString("Also lost, and to be approved after it: " + roll.Names(others) + ". ")
	}
	b.WriteString("Bring the volume back with its data; or, if the data is gone for good, approve " + approve)
	return b.String()
}
