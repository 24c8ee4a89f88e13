package nodestorage_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// replacing returns three nodes whose partition is in sync everywhere. The storage of node 0 is being replaced.
func replacing(r nodestorage.Replacement) nodestorage.Facts {
	f := inSync(of(nodestorage.Kept, nodestorage.Kept, nodestorage.Kept), 0, 1, 2)
	return node(f, func(n *nodestorage.Node) { n.Replacement = r })
}

// gone returns three nodes of which node 0 has no pod and no claim any more, and is in no ISR.
func gone() nodestorage.Facts {
	f := inSync(of(nodestorage.Unknown, nodestorage.Kept, nodestorage.Kept), 1, 2)
	return node(f, func(n *nodestorage.Node) { n.Replacement = nodestorage.Cleared })
}

// loses makes another node lose its volume.
func loses(f nodestorage.Facts, id int) nodestorage.Facts {
	f.Nodes[id].Storage = nodestorage.Lost
	return f
}

// partition adds the only partition that is known.
func partition(f nodestorage.Facts, p kafka.Partition) nodestorage.Facts {
	p.Topic = "orders"
	var all kafka.Partitions
	all.Add(p)
	f.Roll.Partitions = transitions.Known(all, now)
	return f
}

func impeded(f nodestorage.Facts) nodestorage.Facts {
	return node(f, func(n *nodestorage.Node) {
		n.Impediment = transitions.Problemf("PoolMissing", "its pool does not exist")
	})
}

// down makes another node unavailable.
func down(f nodestorage.Facts) nodestorage.Facts {
	f.Roll.Node(1).Running, f.Roll.Node(1).Ready = false, false
	return f
}

// blocking is a situation in which the storage of node 0 may not be replaced, and what the guard says.
type blocking struct {
	facts nodestorage.Facts
	says  string
}

// blocked are the situations in which a replacement that has come so far may not go on.
func blocked(r nodestorage.Replacement) map[string]blocking {
	broker := func(p kafka.Partition) nodestorage.Facts { return partition(replacing(r), p) }
	voters := func(change func(*kafka.Quorum)) nodestorage.Facts { return quorum(replacing(r), change) }
	return map[string]blocking{
		"its claims would not be created again": {impeded(replacing(r)), "its pool does not exist"},
		"another node is down":                  {down(replacing(r)), "not ready: my-cluster-pool-1"},
		"another controller lacks a committed record": {
			voters(func(q *kafka.Quorum) { q.Voters[1].LogEndOffset = 9 }), "not caught up: controller 1"},
		"there are two controllers": {
			voters(func(q *kafka.Quorum) { q.Voters, q.Leader = q.Voters[:2], 1 }), "without controller 0 the other controllers are no majority"},
		"it has the only replica": {
			broker(kafka.Partition{Leader: 0, Replicas: []int32{0}, ISR: []int32{0}, MinISR: 1}), "broker 0 has the only replica of orders-0: add replicas, or delete the topics"},
		"it has the only replica of a topic without a minimum": {
			broker(kafka.Partition{Leader: 0, Replicas: []int32{0}, ISR: []int32{0}}), "broker 0 has the only replica of orders-0: add replicas, or delete the topics"},
		"it has the only replica in sync of two that are the minimum": {
			broker(kafka.Partition{Leader: 0, Replicas: []int32{0, 1}, ISR: []int32{0}, MinISR: 2}), "broker 1 is out of the ISR of orders-0"},
		"it has the only replica in sync, and the other one was on a broker that is gone": {
			broker(kafka.Partition{Leader: 0, Replicas: []int32{0, 7}, ISR: []int32{0}, MinISR: 2}), "no replica is in sync on another broker than 0 of orders-0"},
	}
}

// A refusal names the partition, the voter or the node that is in the way.
func TestReplacementNamesWhatIsInTheWay(t *testing.T) {
	all := compiled(t).Definition().Transitions
	i := slices.IndexFunc(all, func(tr machines.Transition[nodestorage.Facts, roll.Data]) bool { return tr.Event == "node-selected" })
	for name, tc := range blocked(nodestorage.Requested) {
		t.Run(name, func(t *testing.T) {
			verdict, data := all[i].Choose.Pick(&tc.facts, roll.NoNode())
			if diff := cmp.Diff(pod(0)+": "+tc.says, verdict.Observed); diff != "" || data != roll.NoNode() {
				t.Errorf("selected %+v (-want +got):\n%s", data, diff)
			}
		})
	}
}

func replacementRows() []row {
	const awaiting, replaces = nodestorage.AwaitingReplacement, nodestorage.ReplacingStorage
	lost, kept := nodestorage.Lost, nodestorage.Kept
	selects := func(id int32) want { return want{Event: "node-selected", To: replaces, Data: hand(id)} }
	both := func(f nodestorage.Facts) nodestorage.Facts {
		f.Nodes[1].Replacement = nodestorage.Requested
		return f
	}
	deletes := want{WaitingFor: []string{"storage-cleared", "replicas-elsewhere"}, Effects: []nodestorage.Effect{{Node: 0, Replace: true}}}
	requestedOf := func(f nodestorage.Facts) nodestorage.Facts {
		return node(f, func(n *nodestorage.Node) { n.Replacement = nodestorage.Requested })
	}
	rows := []row{
		{Name: "intact: a replacement is requested", State: nodestorage.Intact, Facts: replacing(nodestorage.Requested), Want: want{Event: "replacement-requested", To: awaiting}},
		{Name: "intact: a lost volume comes before a request", State: nodestorage.Intact, Facts: loses(replacing(nodestorage.Requested), 1), Want: want{Event: "storage-lost", To: nodestorage.StorageLost, Data: hand(1)}},
		{Name: "intact: a lost volume is to be replaced", State: nodestorage.Intact, Facts: requestedOf(of(lost, kept, kept)), Want: want{Event: "replacement-requested", To: awaiting}},
		{Name: "lost: the replacement of the node is requested", State: nodestorage.StorageLost, Data: hand(0), Facts: requestedOf(one()), Want: want{Event: "replacement-requested", To: awaiting}},
		{Name: "lost: the replacement of another node waits", State: nodestorage.StorageLost, Data: hand(0), Facts: both(one()), Want: want{WaitingFor: []string{"approved"}}},

		{Name: "lost: the volume is back, and its replacement is requested", State: nodestorage.StorageLost, Data: hand(0), Facts: replacing(nodestorage.Requested), Want: want{Event: "storage-found", To: nodestorage.Intact}},
		{Name: "lost: the node is formatted by hand, and the replacement of another one was begun", State: nodestorage.StorageLost, Data: hand(0), Facts: both(of(nodestorage.Allowed, kept, kept)), Want: want{Event: "format-allowed", To: nodestorage.Formatting, Data: hand(0)}},

		{Name: "requested: another node loses its volume, and the request was withdrawn", State: awaiting, Facts: one(), Want: want{Event: "storage-lost", To: nodestorage.StorageLost, Data: hand(0)}},
		{Name: "requested: nothing is in the way", State: awaiting, Facts: replacing(nodestorage.Requested), Want: selects(0)},
		{Name: "requested: the lost volume can be replaced", State: awaiting, Facts: requestedOf(one()), Want: selects(0)},
		{Name: "requested: the request was withdrawn", State: awaiting, Facts: replacing(nodestorage.None), Want: want{Event: "replacement-withdrawn", To: nodestorage.Intact}},
		{Name: "requested: another node loses its volume", State: awaiting, Facts: loses(replacing(nodestorage.Requested), 1), Want: want{Event: "storage-lost", To: nodestorage.StorageLost, Data: hand(1)}},
		{Name: "requested: of two nodes the first by id comes first", State: awaiting, Facts: both(replacing(nodestorage.Requested)), Want: selects(0)},
		{Name: "requested: a node that cannot be replaced holds no other back", State: awaiting, Facts: both(impeded(replacing(nodestorage.Requested))), Want: selects(1)},
		{Name: "requested: what was begun comes first", State: awaiting, Facts: func() nodestorage.Facts {
			f := replacing(nodestorage.Requested)
			f.Nodes[1].Replacement = nodestorage.Begun
			return f
		}(), Want: selects(1)},
		{Name: "requested: nothing else begins before what was begun", State: awaiting, Facts: both(impeded(replacing(nodestorage.Begun))), Want: want{WaitingFor: []string{"may-replace"}}},
		{Name: "requested: what is deleted is followed", State: awaiting, Facts: gone(), Want: selects(0)},
		{Name: "requested: Kafka cannot be read", State: awaiting, Facts: quorumSilent(partitionsSilent(replacing(nodestorage.Requested))), Want: want{WaitingFor: []string{"may-replace"}}},

		{Name: "replacing: the request is carried out", State: replaces, Data: hand(0), Facts: replacing(nodestorage.Requested), Want: deletes},
		{Name: "replacing: the process ended after the record was written", State: replaces, Data: hand(0), Facts: replacing(nodestorage.Begun), Want: deletes},
		{Name: "replacing: nothing is deleted twice", State: replaces, Data: hand(0), Facts: replacing(nodestorage.Releasing), Want: want{WaitingFor: []string{"storage-cleared", "replicas-elsewhere"}}},
		{Name: "replacing: the others hold everything", State: replaces, Data: hand(0), Facts: gone(), Want: want{Event: "storage-cleared", To: nodestorage.Formatting, Data: hand(0)}},
		{Name: "replacing: the broker still counts as in sync", State: replaces, Data: hand(0), Facts: inSync(gone(), 0, 1, 2), Want: want{WaitingFor: []string{"replicas-elsewhere"}}},
		{Name: "replacing: another controller lacks a record that was committed meanwhile", State: replaces, Data: hand(0), Facts: quorum(gone(), func(q *kafka.Quorum) { q.Voters[1].LogEndOffset = 9 }), Want: want{WaitingFor: []string{"metadata-elsewhere"}}},
		{Name: "replacing: another node loses its volume", State: replaces, Data: hand(0), Facts: loses(gone(), 1), Want: want{Event: "storage-lost", To: nodestorage.StorageLost, Data: hand(1)}},
		{Name: "replacing: the request was withdrawn before it was recorded", State: replaces, Data: hand(0), Facts: replacing(nodestorage.None), Want: want{Event: machines.EventInferred, To: nodestorage.Intact}},
		{Name: "replacing: Kafka cannot be read", State: replaces, Data: hand(0), Facts: quorumSilent(partitionsSilent(replacing(nodestorage.Begun))), Want: want{WaitingFor: []string{"storage-cleared", "replicas-elsewhere", "metadata-elsewhere"}, Blocked: []string{"restart-safe", "metadata-held", "replicas-held"}}},

		{Name: "formatting: the permission of a replaced node is written", State: nodestorage.Formatting, Data: hand(0), Facts: gone(), Want: want{WaitingFor: []string{"storage-kept"}, Effects: []nodestorage.Effect{{Node: 0}}}},
		{Name: "formatting: the replaced broker counts as in sync again", State: nodestorage.Formatting, Data: hand(0), Facts: inSync(gone(), 0, 1, 2), Want: want{Event: machines.EventPreconditionFailed, To: nodestorage.StorageLost}},
		{Name: "no persisted state: a lost volume is to be replaced", Facts: requestedOf(one()), Want: want{Event: machines.EventInferred, To: nodestorage.Intact}},
	}
	for name, tc := range blocked(nodestorage.Requested) {
		rows = append(rows, row{Name: "requested: " + name, State: awaiting, Facts: tc.facts, Want: want{WaitingFor: []string{"may-replace"}}})
	}
	for name, tc := range blocked(nodestorage.Begun) {
		rows = append(rows, row{Name: "replacing: " + name, State: replaces, Data: hand(0), Facts: tc.facts, Want: want{Event: machines.EventPreconditionFailed, To: awaiting}})
	}
	return rows
}
