// Package rolltest provides the transitions of a roll as one table, for every machine that includes the roll, and builders of
// the nodes in such tables.
package rolltest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// Now is the time of every row.
var Now = machinetest.Start

// ErrSilent is the error of facts that cannot be read from Kafka.
var ErrSilent = errors.New("connection refused")

const sessionTimeout = 9 * time.Second

// Change modifies the nodes of a row.
type Change func(*roll.Facts)

// Dual returns n nodes with both roles, numbered from 0. All serve and match their desired state, and node 0 leads the quorum.
func Dual(n int, changes ...Change) roll.Facts {
	return facts(n, func(node *roll.Node) { node.Controller, node.Broker = true, true }, changes)
}

// Split returns controllers, numbered from 0, and brokers with the following numbers.
func Split(controllers, brokers int, changes ...Change) roll.Facts {
	return facts(controllers+brokers, func(node *roll.Node) {
		node.Controller = int(node.ID) < controllers
		node.Broker = !node.Controller
	}, changes)
}

func facts(n int, role func(*roll.Node), changes []Change) roll.Facts {
	f := roll.Facts{Now: Now, SessionTimeout: sessionTimeout, FetchTimeout: kafka.DefaultQuorumFetchTimeout}
	quorum, brokers := kafka.Quorum{}, kafka.Brokers{FencingReported: true}
	members := roll.Members{}
	for id := range int32(n) { //nolint:gosec // nolint:gosec // a small number
		node := roll.Node{
			ID: id, Pod: Pod(id), Running: true, Ready: true,
			StartedAt: Now.Add(-time.Hour), ReadySince: Now.Add(-time.Hour),
		}
		role(&node)
		f.Nodes = append(f.Nodes, node)
		if node.Controller {
			quorum.Voters = append(quorum.Voters, kafka.QuorumReplica{ID: id, LastFetchMillis: Now.UnixMilli(), LastCaughtUpMillis: Now.UnixMilli()})
		}
		if node.Broker {
			brokers.Brokers = append(brokers.Brokers, kafka.Broker{ID: id, Fencing: kafka.Unfenced})
		}
		members[id] = roll.Membership{Controller: node.Controller, Broker: node.Broker}
	}
	f.Quorum, f.Brokers, f.Members = transitions.Known(quorum, Now), transitions.Known(brokers, Now), transitions.Known(members, Now)
	f.Partitions = transitions.Known(kafka.Partitions{}, Now)
	for _, change := range changes {
		change(&f)
	}
	return f
}

// Pod returns the name of a node's pod.
func Pod(id int32) string { return fmt.Sprintf("my-cluster-pool-%d", id) }

// All combines changes.
func All(changes ...Change) Change {
	return func(f *roll.Facts) {
		for _, change := range changes {
			change(f)
		}
	}
}

func each(ids []int32, change func(*roll.Node)) Change {
	return func(f *roll.Facts) {
		for _, id := range ids {
			change(f.Node(id))
		}
	}
}

// Outdated makes nodes need a restart; no ids means all nodes.
func Outdated(ids ...int32) Change {
	return func(f *roll.Facts) {
		for i := range f.Nodes {
			n := &f.Nodes[i]
			n.Outdated = n.Outdated || len(ids) == 0 || slices.Contains(ids, n.ID)
		}
	}
}

// Held is a node with whose pod something would be lost.
func Held(id int32) Change {
	return each([]int32{id}, func(n *roll.Node) {
		n.Held = transitions.Problemf("ClaimTerminating", "PersistentVolumeClaim data-0-%s is being deleted", n.Pod)
	})
}

// Stale makes nodes differ from their desired state for another reason than the one that the roll handles.
func Stale(ids ...int32) Change { return each(ids, func(n *roll.Node) { n.Stale = true }) }

// Down is a node whose pod cannot start: no process has run in it.
func Down(id int32) Change {
	return each([]int32{id}, func(n *roll.Node) {
		n.Ready, n.StartedAt, n.Trouble = false, time.Time{}, transitions.Problemf(roll.ImagePullFailed, "cannot pull image apache/kafka:none")
		n.NeverStarted, n.UnreadySince = true, Now.Add(-time.Hour)
	})
}

// DownFor is a node whose pod was created that long ago and cannot start.
func DownFor(id int32, ago time.Duration) Change {
	return All(Down(id), each([]int32{id}, func(n *roll.Node) { n.UnreadySince = Now.Add(-ago) }))
}

// Looping is a node whose process keeps crashing: its pod is not ready and had a process. Kafka's answers do not change.
func Looping(id int32) Change {
	return each([]int32{id}, func(n *roll.Node) {
		n.Ready, n.StartedAt, n.Trouble = false, time.Time{}, transitions.Problemf(roll.ContainerDied, "container kafka died with exit code 1")
		n.UnreadySince = Now.Add(-time.Hour)
	})
}

// Dead is a node whose process keeps crashing, as Kafka's answers show.
func Dead(id int32) Change { return All(Looping(id), Fenced(id), Silenced(id), Unfetching(id)) }

// Lapsed is a node that has run for an hour and is not ready since the given time. It still takes part in the Kafka cluster.
func Lapsed(id int32, ago time.Duration) Change {
	return each([]int32{id}, func(n *roll.Node) { n.Ready, n.UnreadySince = false, Now.Add(-ago) })
}

// Silenced are nodes that do not answer when they are queried directly.
func Silenced(ids ...int32) Change {
	return func(f *roll.Facts) {
		if members, known := f.Members.Get(); known {
			members = maps.Clone(members)
			for _, id := range ids {
				members[id] = roll.Membership{}
			}
			f.Members = transitions.Known(members, f.Members.At())
		}
	}
}

// Answering is a node that answers only as a controller when it is queried directly.
func Answering(id int32) Change {
	return func(f *roll.Facts) {
		members, _ := f.Members.Get()
		members = maps.Clone(members)
		members[id] = roll.Membership{Controller: true}
		f.Members = transitions.Known(members, f.Members.At())
	}
}

// Unfetching is a voter that has stopped fetching.
func Unfetching(id int32) Change {
	return quorum(func(q *kafka.Quorum) {
		for i := range q.Voters {
			if q.Voters[i].ID == id {
				q.Voters[i].LastFetchMillis, q.Voters[i].LastCaughtUpMillis = Now.Add(-time.Minute).UnixMilli(), Now.Add(-time.Minute).UnixMilli()
			}
		}
	})
}

// Gone is a node whose pod is terminating or does not exist yet.
func Gone(id int32) Change {
	return each([]int32{id}, func(n *roll.Node) { n.Running, n.Ready, n.StartedAt = false, false, time.Time{} })
}

// Refused is a node whose pod the API server has refused to create for an hour.
func Refused(id int32) Change { return RefusedFor(id, time.Hour) }

// RefusedFor is a node whose pod the API server has refused to create for the given time.
func RefusedFor(id int32, ago time.Duration) Change {
	return All(Gone(id), each([]int32{id}, func(n *roll.Node) {
		n.RefusedSince = Now.Add(-ago)
		n.Trouble = transitions.Problemf(roll.PodRefused, "cannot be created: exceeded quota: small")
	}))
}

// NotEnding is a node whose pod terminates for ever, as on a lost host.
func NotEnding(id int32) Change {
	return All(Gone(id), each([]int32{id}, func(n *roll.Node) {
		n.Trouble = transitions.Problemf(roll.PodNotEnding, "the pod does not end: its host host-1 does not report it")
	}))
}

// Terminating is a node whose process has run for an hour and whose pod is terminating.
func Terminating(id int32) Change {
	return each([]int32{id}, func(n *roll.Node) { n.Running, n.Ready = false, false })
}

// Starting is a node whose process started the given time ago, is not ready yet and does not take part yet.
func Starting(id int32, ago time.Duration) Change {
	return All(each([]int32{id}, func(n *roll.Node) {
		n.Ready, n.StartedAt, n.UnreadySince = false, Now.Add(-ago), Now.Add(-ago)
	}), Fenced(id), Silenced(id), Unfetching(id))
}

// Restarted is a node that is ready and whose process started the given time ago.
func Restarted(id int32, ago time.Duration) Change {
	return each([]int32{id}, func(n *roll.Node) { n.StartedAt, n.ReadySince = Now.Add(-ago), Now.Add(-ago) })
}

// BrokerAlone is a node without the controller role.
func BrokerAlone(id int32) Change {
	return All(each([]int32{id}, func(n *roll.Node) { n.Controller = false }), NoVoter(id))
}

// NothingServes makes no node answer as a member when queried directly, except for ready controllers.
func NothingServes(f *roll.Facts) {
	members := roll.Members{}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		members[n.ID] = roll.Membership{Controller: n.Controller && n.Ready}
	}
	f.Members = transitions.Known(members, Now)
}

// Unready makes all nodes not ready since their start an hour ago.
func Unready(f *roll.Facts) {
	for i := range f.Nodes {
		f.Nodes[i].Ready, f.Nodes[i].UnreadySince = false, f.Nodes[i].StartedAt
	}
}

// KubeletLost is a node whose readiness no live kubelet reports.
func KubeletLost(id int32) Change {
	return func(f *roll.Facts) {
		members, _ := f.Members.Get()
		members = maps.Clone(members)
		m := members[id]
		m.KubeletLost = true
		members[id] = m
		f.Members = transitions.Known(members, f.Members.At())
	}
}
