//test:norace
package nodestorage_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/roll/rolltest"
	"github.com/detent-dev/detent/transitions"
)

type (
	row  = machinetest.Row[nodestorage.Facts, roll.Data, nodestorage.Effect]
	want = machinetest.Want[roll.Data, nodestorage.Effect]
)

const attempt = "5f2c91"

var (
	now       = machinetest.Start
	errSilent = errors.New("connection refused")
)

func hand(id int32) *roll.Data { return &roll.Data{Node: id} }

// of returns three nodes with both roles and the given storages. Node 2 leads the quorum; the only partition is in sync only on
// node 2.
func of(storages ...nodestorage.Storage) nodestorage.Facts {
	f := nodestorage.Facts{Roll: rolltest.Dual(3), Namespace: "kafka", Cluster: "my-cluster", Attempt: &lifecyclev1.Attempt{ID: attempt}}
	q := kafka.Quorum{Leader: 2, HighWatermark: 10}
	for i, s := range storages {
		n := nodestorage.Node{ID: int32(i), Pod: pod(i), Controller: true, Broker: true, Storage: s} //nolint:gosec // three
		if s != nodestorage.Kept {
			n.DownSince = now.Add(-time.Minute)
			at := f.Roll.Node(n.ID)
			at.Ready, at.NeverStarted, at.UnreadySince, at.StartedAt = false, true, n.DownSince, time.Time{}
		}
		if s == nodestorage.Lost {
			n.Directories = []string{"/var/lib/kafka/data-0/kafka-log" + string(rune('0'+i))}
		}
		f.Nodes = append(f.Nodes, n)
	}
	for id := range int32(3) {
		q.Voters = append(q.Voters, kafka.QuorumReplica{ID: id, LogEndOffset: 10, LastFetchMillis: now.UnixMilli(), LastCaughtUpMillis: now.UnixMilli()})
	}
	f.Roll.Quorum = transitions.Known(q, now)
	return inSync(f, 2)
}

func unattempted(f nodestorage.Facts) nodestorage.Facts {
	f.Attempt = nil
	return f
}

func pod(i int) string { return "my-cluster-pool-" + string(rune('0'+i)) }

func one() nodestorage.Facts {
	return of(nodestorage.Lost, nodestorage.Kept, nodestorage.Kept)
}

// approvedOf adds the approval of node 0 in this attempt.
func approvedOf(f nodestorage.Facts) nodestorage.Facts { return saying(f, attempt+"/"+pod(0)) }

func saying(f nodestorage.Facts, approval string) nodestorage.Facts {
	f.Approved = approval
	return f
}

// inSync is the ISR of the partition of all three nodes.
func inSync(f nodestorage.Facts, isr ...int32) nodestorage.Facts {
	var p kafka.Partitions
	leader := kafka.NoLeader
	if len(isr) > 0 {
		leader = isr[len(isr)-1]
	}
	p.Add(kafka.Partition{Topic: "orders", Leader: leader, Replicas: []int32{0, 1, 2}, ISR: isr, MinISR: 2})
	f.Roll.Partitions = transitions.Known(p, now)
	return f
}

func quorum(f nodestorage.Facts, change func(*kafka.Quorum)) nodestorage.Facts {
	q, _ := f.Roll.Quorum.Get()
	q = q.Clone()
	change(&q)
	f.Roll.Quorum = transitions.Known(q, now)
	return f
}

func quorumSilent(f nodestorage.Facts) nodestorage.Facts {
	f.Roll.Quorum = transitions.Unreadable[kafka.Quorum](errSilent)
	return f
}

func partitionsSilent(f nodestorage.Facts) nodestorage.Facts {
	f.Roll.Partitions = transitions.Unreadable[kafka.Partitions](errSilent)
	return f
}

func node(f nodestorage.Facts, change func(*nodestorage.Node)) nodestorage.Facts {
	change(&f.Nodes[0])
	return f
}

func rows() []row {
	lost, kept, allowed, unknown := nodestorage.Lost, nodestorage.Kept, nodestorage.Allowed, nodestorage.Unknown
	formats := want{Event: "approved", To: nodestorage.Formatting, Data: hand(0), WaitingFor: []string{"storage-kept"}}
	hold := func(name string, f nodestorage.Facts, waits ...string) row {
		return row{Name: "lost: " + name, State: nodestorage.StorageLost, Data: hand(0), Facts: f, Want: want{WaitingFor: waits}}
	}
	proceeds := func(name string, f nodestorage.Facts) row {
		return row{Name: "lost: " + name, State: nodestorage.StorageLost, Data: hand(0), Facts: f, Want: formats}
	}
	controller := func(f nodestorage.Facts) nodestorage.Facts {
		return node(f, func(n *nodestorage.Node) { n.Broker = false })
	}
	broker := func(f nodestorage.Facts) nodestorage.Facts {
		return node(f, func(n *nodestorage.Node) { n.Controller = false })
	}
	behind := func(ids ...int32) func(*kafka.Quorum) {
		return func(q *kafka.Quorum) {
			for _, id := range ids {
				q.Voters[id].LastCaughtUpMillis = kafka.NotReported
			}
		}
	}
	const isr, voters = "replicas-elsewhere", "metadata-elsewhere"
	return []row{
		{Name: "intact: every volume is in place", State: nodestorage.Intact, Facts: of(kept, kept, kept)},
		{Name: "intact: a pod that is being replaced has lost nothing", State: nodestorage.Intact, Facts: of(unknown, kept, kept)},
		{Name: "intact: a volume is empty", State: nodestorage.Intact, Facts: one(), Want: want{Event: "storage-lost", To: nodestorage.StorageLost, Data: hand(0), WaitingFor: []string{"approved"}}},
		{Name: "intact: of two nodes the first by id comes first", State: nodestorage.Intact, Facts: of(kept, lost, lost), Want: want{Event: "storage-lost", To: nodestorage.StorageLost, Data: hand(1)}},

		hold("not approved", one(), "approved"),
		hold("the attempt is not persisted yet", unattempted(approvedOf(one())), "approved"),
		hold("another attempt was approved", saying(one(), "000000/"+pod(0)), "approved"),
		hold("another node was approved", saying(one(), attempt+"/"+pod(1)), "approved"),
		hold("the attempt was approved without a pod", saying(one(), attempt), "approved"),
		hold("the pod is being replaced", approvedOf(of(unknown, kept, kept)), "storage-lost"),
		hold("the broker is in an ISR", approvedOf(inSync(one(), 0, 2)), isr),
		hold("the broker is the last in an ISR", approvedOf(inSync(one(), 0)), isr),
		hold("no replica is in sync", approvedOf(inSync(one())), isr),
		hold("the broker is in the ISR of a healthy partition", approvedOf(inSync(one(), 0, 1, 2)), isr),
		hold("the partitions cannot be read", approvedOf(partitionsSilent(one())), isr),
		hold("the partitions were read before the pod went down", approvedOf(node(one(), func(n *nodestorage.Node) { n.Controller, n.DownSince = false, now.Add(time.Second) })), isr),
		hold("one of two other controllers is behind", approvedOf(quorum(one(), behind(1))), voters),
		hold("another controller lacks a committed record although it caught up lately", approvedOf(quorum(one(), func(q *kafka.Quorum) { q.Voters[1].LogEndOffset = 9 })), voters),
		hold("the quorum has no leader", approvedOf(quorum(one(), func(q *kafka.Quorum) { q.Leader = kafka.NoLeader })), voters),
		hold("the node is still reported as the leader", approvedOf(quorum(one(), func(q *kafka.Quorum) { q.Leader = 0 })), voters),
		hold("there is no other controller", approvedOf(quorum(one(), func(q *kafka.Quorum) { q.Voters, q.Leader = q.Voters[:1], 2 })), voters),
		hold("the quorum cannot be read", approvedOf(quorumSilent(one())), voters),
		hold("the quorum was read before the pod went down", approvedOf(node(one(), func(n *nodestorage.Node) { n.Broker, n.DownSince = false, now.Add(time.Second) })), voters),

		proceeds("approved, and the others hold everything", approvedOf(one())),
		proceeds("a controller is in no ISR", approvedOf(controller(partitionsSilent(one())))),
		proceeds("a broker is no voter", approvedOf(broker(quorumSilent(one())))),
		proceeds("three of four other controllers are caught up", approvedOf(quorum(one(), func(q *kafka.Quorum) {
			q.Voters = append(q.Voters, q.Voters[1], q.Voters[2])
			q.Voters[3].ID, q.Voters[4].ID = 3, 4
			behind(3)(q)
		}))),
		proceeds("two of three other controllers are caught up", approvedOf(quorum(one(), func(q *kafka.Quorum) {
			q.Voters = append(q.Voters, q.Voters[1])
			q.Voters[3].ID = 3
			behind(3)(q)
		}))),
		proceeds("another node is lost as well", approvedOf(of(lost, kept, lost))),
		{Name: "lost: the volume is back", State: nodestorage.StorageLost, Data: hand(0), Facts: of(kept, kept, kept), Want: want{Event: "storage-found", To: nodestorage.Intact}},
		{Name: "lost: the volume is back and its formatting was approved", State: nodestorage.StorageLost, Data: hand(0), Facts: approvedOf(of(kept, kept, kept)), Want: want{Event: "storage-found", To: nodestorage.Intact}},
		{Name: "lost: the node is gone", State: nodestorage.StorageLost, Data: hand(7), Facts: of(kept, kept, kept), Want: want{Event: "storage-found", To: nodestorage.Intact}},
		{Name: "lost: an attempt of another release had another target", State: nodestorage.StorageLost, Data: hand(0), Attempt: "another", Facts: approvedOf(one()), Want: want{Event: machines.EventTargetChanged, To: nodestorage.Intact}},
		{Name: "lost: the record was changed by hand", State: nodestorage.StorageLost, Data: hand(0), Facts: of(allowed, kept, kept), Want: want{Event: "format-allowed", To: nodestorage.Formatting, Data: hand(0)}},

		{Name: "formatting: the record is written", State: nodestorage.Formatting, Data: hand(0), Facts: approvedOf(one()), Want: want{WaitingFor: []string{"storage-kept"}, Effects: []nodestorage.Effect{{Node: 0}}}},
		{Name: "formatting: the record is written once", State: nodestorage.Formatting, Data: hand(0), Facts: approvedOf(of(allowed, kept, kept)), Want: want{WaitingFor: []string{"storage-kept"}}},
		{Name: "formatting: a pod that is being replaced is waited for", State: nodestorage.Formatting, Data: hand(0), Facts: approvedOf(of(unknown, kept, kept)), Want: want{WaitingFor: []string{"storage-kept"}}},
		{Name: "formatting: the record permits it, and another node has lost a volume", State: nodestorage.Formatting, Data: hand(0), Facts: of(allowed, lost, kept), Want: want{Event: "storage-lost", To: nodestorage.StorageLost, Data: hand(1)}},
		{Name: "formatting: the record is not written, and another node has lost a volume", State: nodestorage.Formatting, Data: hand(0), Facts: approvedOf(of(lost, lost, kept)), Want: want{WaitingFor: []string{"storage-kept"}, Effects: []nodestorage.Effect{{Node: 0}}}},
		{Name: "formatting: the node registered", State: nodestorage.Formatting, Data: hand(0), Facts: approvedOf(of(kept, lost, kept)), Want: want{Event: "formatted", To: nodestorage.Intact}},
		{Name: "formatting: the node is gone", State: nodestorage.Formatting, Data: hand(7), Facts: of(kept, kept, kept), Want: want{Event: "formatted", To: nodestorage.Intact}},
		{Name: "formatting: the approval was withdrawn", State: nodestorage.Formatting, Data: hand(0), Facts: one(), Want: want{Event: machines.EventPreconditionFailed, To: nodestorage.StorageLost}},
		{Name: "formatting: the broker is in an ISR again", State: nodestorage.Formatting, Data: hand(0), Facts: approvedOf(inSync(one(), 0, 2)), Want: want{Event: machines.EventPreconditionFailed, To: nodestorage.StorageLost}},
		{Name: "formatting: another controller fell behind", State: nodestorage.Formatting, Data: hand(0), Facts: approvedOf(quorum(one(), behind(1))), Want: want{Event: machines.EventPreconditionFailed, To: nodestorage.StorageLost}},
		{Name: "formatting: Kafka cannot be read", State: nodestorage.Formatting, Data: hand(0), Facts: approvedOf(quorumSilent(partitionsSilent(one()))), Want: want{WaitingFor: []string{"storage-kept"}, Blocked: []string{isr, voters}}},

		{Name: "no persisted state: every volume is in place", Facts: of(kept, unknown, kept), Want: want{Event: machines.EventInferred, To: nodestorage.Intact}},
		{Name: "no persisted state: a volume is lost", Facts: approvedOf(of(kept, lost, kept)), Want: want{Event: machines.EventInferred, To: nodestorage.StorageLost, Data: hand(1)}},
		{Name: "no persisted state: a node is being formatted", Facts: of(kept, kept, allowed), Want: want{Event: machines.EventInferred, To: nodestorage.Formatting, Data: hand(2)}},
		{Name: "no persisted state: a node is being formatted, and another one is lost", Facts: of(lost, kept, allowed), Want: want{Event: machines.EventInferred, To: nodestorage.StorageLost, Data: hand(0)}},
		{Name: "data of another release", State: nodestorage.StorageLost, Coded: map[string]string{"pod": "a"}, Facts: one(), Want: want{Event: machines.EventInferred, To: nodestorage.StorageLost, Data: hand(0)}},
	}
}

func TestDefinitionTransitions(t *testing.T) {
	machinetest.Run(t, compiled(t), slices.Concat(rows(), replacementRows()))
}
