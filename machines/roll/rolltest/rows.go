package rolltest

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest"
	"github.com/detent-dev/detent/machines/roll"
)

// Machine is a machine that includes the roll, as far as the roll's table depends on it.
type Machine[F, E any] struct {
	// Facts returns facts of the machine with these nodes, in which the roll is permitted.
	Facts func(roll.Facts) F
	// Restart returns the effect of a restart.
	Restart func(id int32) E
	// OnTargetChange, OnPreconditionFailed and Done as in the machine's Inclusion.
	OnTargetChange, OnPreconditionFailed, Done string
	// Inferred is the state that the machine infers while a node needs a restart.
	Inferred string
	// Another is a target that differs from that of every row.
	Another string
	// FirstStart as in the machine's Inclusion.
	FirstStart bool
}

type (
	row[F, E any]  = machinetest.Row[F, roll.Data, E]
	want[F, E any] = machinetest.Want[roll.Data, E]
)

// Hand returns the data with the given current node.
func Hand(id int32) *roll.Data { return &roll.Data{Node: id} }

// Rows returns the roll's transitions in the machine.
func Rows[F, E any](m Machine[F, E]) []machinetest.Row[F, roll.Data, E] {
	return slices.Concat(m.selecting(), m.awaitingQuorum(), m.awaitingISR(), m.restarting(), m.awaitingReady(), m.awaitingInSync())
}

// to is the transition that a row expects.
func (m Machine[F, E]) to(event, state string, hand ...int32) want[F, E] {
	w := want[F, E]{Event: event, To: state}
	if len(hand) > 0 {
		w.Data = Hand(hand[0])
	}
	return w
}

func (m Machine[F, E]) stays(guards ...string) want[F, E] { return want[F, E]{WaitingFor: guards} }

// full is a partition on the first three nodes that can lose one replica; tight can lose none.
var (
	full  = Partition("orders-7", []int32{0, 1, 2}, []int32{0, 1, 2})
	tight = Partition("orders-7", []int32{0, 1, 2}, []int32{1, 2})
	// loose has a replica that is out of the ISR, and could lose another.
	loose = Spare("orders-7", []int32{0, 1, 2}, []int32{0, 1})
)

func (m Machine[F, E]) selecting() []row[F, E] {
	at := func(name, reason string, nodes roll.Facts, want want[F, E]) row[F, E] {
		return row[F, E]{Name: "selecting: " + name, Reason: reason, State: roll.SelectingNode, Facts: m.Facts(nodes), Want: want}
	}
	changed := at("the target changes", "", Dual(3, Outdated()), m.to(machines.EventTargetChanged, m.OnTargetChange))
	changed.Attempt = m.Another
	return []row[F, E]{
		at("no node needs a restart any more", "", Dual(3), m.to("all-restarted", m.Done)),
		at("no node needs a restart, although one is down", "a node that is down and up to date is not the roll's concern", Dual(3, Down(1)), m.to("all-restarted", m.Done)),
		at("controllers go before brokers", "", Split(3, 3, Outdated()), m.to("node-selected", roll.RestartingNode, 1)),
		at("the active controller waits for its like", "each change of the leader costs an election", Split(3, 0, Outdated(), Led(1)), m.to("node-selected", roll.RestartingNode, 0)),
		at("the active controller goes last of the controllers", "", Split(3, 3, Outdated(0, 3, 4, 5)), m.to("node-selected", roll.RestartingNode, 0)),
		at("brokers go once the controllers have", "", Split(3, 3, Outdated(4, 5)), m.to("node-selected", roll.RestartingNode, 4)),
		at("a node that is down goes first, whatever its role", "the restart may repair it, and takes nothing away", Split(3, 3, Outdated(), Down(4)), m.to("node-selected", roll.RestartingNode, 4)),
		at("of those that are down a controller goes first", "", Split(3, 3, Outdated(), Down(4), Down(1)), m.to("node-selected", roll.RestartingNode, 1)),
		at("a node that is down goes although another is down that needs no restart", "gates do not block recovery", Dual(3, Outdated(1), Down(1), Down(2)), m.to("node-selected", roll.RestartingNode, 1)),
		at("a node that is down goes although Kafka is silent", "there is nothing to ask for", Dual(3, Outdated(), Down(2), Silent), m.to("node-selected", roll.RestartingNode, 2)),
		at("nothing serves, so that there is nothing to protect", "", Dual(3, Outdated(), Silent, Unready, NothingServes), m.to("node-selected", roll.RestartingNode, 0)),
		at("a node that is still starting up is left alone", "it may be recovering its logs", Dual(3, Outdated(), Starting(1, 9*time.Minute)), m.stays("may-restart")),
		at("a node that has been starting for ten minutes goes", "", Dual(3, Outdated(), Starting(1, 10*time.Minute)), m.to("node-selected", roll.RestartingNode, 1)),
		at("a node that needs no restart is down", "nothing goes before it is back", Dual(3, Outdated(0, 1), Down(2)), m.to("node-unready", roll.AwaitingReady, 2)),
		at("a node that needs no restart is on its way", "", Dual(3, Outdated(0, 1), Gone(2)), m.to("node-unready", roll.AwaitingReady, 2)),
		at("the quorum cannot spare a controller", "", Split(3, 3, Outdated(1), Behind(2)), m.to("quorum-at-risk", roll.AwaitingQuorum)),
		at("partitions cannot spare a broker", "", Dual(3, Outdated(1), tight), m.to("isr-at-risk", roll.AwaitingISR)),
		at("partitions can spare a broker that is out of the ISR", "", Dual(3, Outdated(0), tight), m.to("node-selected", roll.RestartingNode, 0)),
		at("the active controller goes first if it is out of an ISR", "the others wait for it, and its restart may repair it", Dual(3, Outdated(), tight), m.to("node-selected", roll.RestartingNode, 0)),
		at("a broker goes before the controllers if it is out of an ISR", "one disruption at a time: no controller goes before it is back", Split(3, 3, Outdated(), Partition("orders-7", []int32{3, 4, 5}, []int32{3, 5})), m.to("node-selected", roll.RestartingNode, 4)),
		at("of those out of an ISR a controller goes first", "", Dual(4, Outdated(), BrokerAlone(0), Led(3), Partition("a", []int32{0, 2, 3}, []int32{2, 3}), Partition("b", []int32{1, 2, 3}, []int32{2, 3})), m.to("node-selected", roll.RestartingNode, 1)),
		at("a node out of one ISR that another cannot spare waits", "", Dual(3, Outdated(), tight, Partition("audit-0", []int32{0, 1, 2}, []int32{0, 1})), m.to("isr-at-risk", roll.AwaitingISR)),
		at("a broker that can be spared goes before one that cannot", "", Split(3, 4, Outdated(4, 6), Partition("orders-7", []int32{4, 5, 9}, []int32{4, 5})), m.to("node-selected", roll.RestartingNode, 6)),
		at("another broker is out of an ISR that no partition's minimum needs", "the wait names the partition", Dual(3, Outdated(0), loose), m.to("isr-at-risk", roll.AwaitingISR)),
		at("a controller goes although partitions are not known to be in sync", "", Split(3, 3, Outdated(0), Without(roll.NeedPartitions)), m.to("node-selected", roll.RestartingNode, 0)),
		at("a node that is not ready serves, and another is down", "readiness is not service", Dual(3, Outdated(1, 2), Dead(2), Lapsed(1, time.Second)), m.to("node-selected", roll.RestartingNode, 2)),
		at("a node that is not ready serves, and another that needs no restart is down", "", Dual(3, Outdated(1), Dead(2), Lapsed(1, time.Hour)), m.to("node-unready", roll.AwaitingReady, 2)),
		at("a node that is not ready serves, and can be spared", "", Dual(3, Outdated(1), Lapsed(1, time.Second)), m.to("node-selected", roll.RestartingNode, 1)),
		at("no node is ready, and all are shown to serve", "a probe that is wrong must be curable", Dual(3, Outdated(), Unready), m.to("node-selected", roll.RestartingNode, 0)),
		at("no broker serves, the quorum cannot spare the next controller, and another is down", "the wait is for what is down", Split(3, 1, Outdated(0), Down(3), Down(1), Behind(1), NothingServes), m.to("node-unready", roll.AwaitingReady, 1)),
		at("a node that needs no restart may be down", "Kafka does not say whether it serves", Dual(3, Outdated(0, 1), Looping(2), Silent), m.stays("may-restart")),
		at("a node that keeps dying goes", "", Dual(3, Outdated(), Dead(2)), m.to("node-selected", roll.RestartingNode, 2)),
		at("a node that keeps dying, and Kafka is silent", "whether it serves is not known", Dual(3, Outdated(), Looping(2), Silent), m.stays("may-restart")),
		at("something would be lost with the pod of the node", "a restart cannot be undone", Dual(3, Outdated(1), Held(1)), m.stays("may-restart")),
		at("something would be lost with the pod of a node that is dead", "", Dual(3, Outdated(1), Held(1), Dead(1)), m.stays("may-restart")),
		at("something would be lost with the pod of another node", "the others go on", Dual(3, Outdated(0, 1), Held(0)), m.to("node-selected", roll.RestartingNode, 1)),
		at("the pod of a node terminates for ever, and another is dead", "no restart ends it", Dual(3, Outdated(), NotEnding(0), Dead(1)), m.to("node-selected", roll.RestartingNode, 1)),
		at("the pod of a node terminates for ever, and others serve", "it may come back", Dual(3, Outdated(), NotEnding(0)), m.stays("may-restart")),
		at("the pod of a node is refused", "what changed may be why it is accepted", Dual(3, Outdated(), Refused(1)), m.to("node-selected", roll.RestartingNode, 1)),
		at("a quorum that cannot be read blocks every restart", "", Dual(3, Outdated(1), Without(roll.NeedQuorum)), m.stays("may-restart")),
		at("partitions that cannot be read block every restart", "", Dual(3, Outdated(1), Without(roll.NeedPartitions)), m.stays("may-restart")),
		changed,
	}
}

func (m Machine[F, E]) awaitingQuorum() []row[F, E] {
	at := func(name, reason string, nodes roll.Facts, want want[F, E]) row[F, E] {
		return row[F, E]{Name: "awaiting the quorum: " + name, Reason: reason, State: roll.AwaitingQuorum, Facts: m.Facts(nodes), Want: want}
	}
	changed := at("the target changes", "", Split(3, 3, Outdated(1), Behind(2)), m.to(machines.EventTargetChanged, m.OnTargetChange))
	changed.Attempt = m.Another
	return []row[F, E]{
		at("a voter is behind", "", Split(3, 3, Outdated(1), Behind(2)), m.stays("may-restart")),
		at("there is no leader", "", Split(3, 3, Outdated(1), Leaderless), m.stays("may-restart")),
		at("all have caught up", "", Split(3, 3, Outdated(1)), m.to("node-selected", roll.RestartingNode, 1)),
		at("no node needs a restart any more", "", Split(3, 3, Behind(2)), m.to("quorum-clear", roll.SelectingNode)),
		at("another node goes down", "the wait names what it waits for", Split(3, 3, Outdated(1), Behind(2), Down(4)), m.to("quorum-clear", roll.SelectingNode)),
		at("now it is partitions that hold the node back", "", Dual(3, Outdated(1), tight), m.to("quorum-clear", roll.SelectingNode)),
		at("now it is partitions that cannot be read", "", Dual(3, Outdated(1), Without(roll.NeedPartitions)), m.to("quorum-clear", roll.SelectingNode)),
		at("the quorum cannot be read", "", Split(3, 3, Outdated(1), Without(roll.NeedQuorum)), m.stays("may-restart")),
		changed,
	}
}

func (m Machine[F, E]) awaitingISR() []row[F, E] {
	at := func(name, reason string, nodes roll.Facts, want want[F, E]) row[F, E] {
		return row[F, E]{Name: "awaiting ISRs: " + name, Reason: reason, State: roll.AwaitingISR, Facts: m.Facts(nodes), Want: want}
	}
	changed := at("the target changes", "", Dual(3, Outdated(1), tight), m.to(machines.EventTargetChanged, m.OnTargetChange))
	changed.Attempt = m.Another
	return []row[F, E]{
		at("partitions are at their minimum", "", Dual(3, Outdated(1), tight), m.stays("may-restart")),
		at("another broker has just restarted", "Kafka may still show the process before in sync", Split(3, 3, Outdated(4), Restarted(5, 8*time.Second)), m.stays("may-restart")),
		at("another broker is out of an ISR that no partition's minimum needs", "", Dual(3, Outdated(0), loose), m.stays("may-restart")),
		at("partitions are above their minimum", "", Dual(3, Outdated(1), full), m.to("node-selected", roll.RestartingNode, 1)),
		at("no node needs a restart any more", "", Dual(3, tight), m.to("isr-clear", roll.SelectingNode)),
		at("now it is the quorum that holds the node back", "", Dual(3, Outdated(1), tight, Behind(2)), m.to("isr-clear", roll.SelectingNode)),
		at("now it is the quorum that cannot be read", "", Dual(3, Outdated(1), Without(roll.NeedQuorum)), m.to("isr-clear", roll.SelectingNode)),
		at("partitions cannot be read", "", Dual(3, Outdated(1), Without(roll.NeedPartitions)), m.stays("may-restart")),
		changed,
	}
}

func (m Machine[F, E]) restarting() []row[F, E] {
	at := func(name, reason string, nodes roll.Facts, want want[F, E]) row[F, E] {
		return row[F, E]{Name: "restarting: " + name, Reason: reason, State: roll.RestartingNode, Data: Hand(1), Facts: m.Facts(nodes), Want: want}
	}
	acts := m.stays("node-restarted")
	acts.Effects = []E{m.Restart(1)}
	blocked := m.stays("node-restarted")
	blocked.Blocked = []string{"restart-safe"}
	changed := at("the target changes", "", Dual(3, Outdated(1)), m.to(machines.EventTargetChanged, m.OnTargetChange))
	changed.Attempt = m.Another
	unwanted := at("the selected node left the cluster", "", Dual(3, Outdated(1)), m.to(machines.EventInferred, m.Inferred))
	unwanted.Data = Hand(7)
	return []row[F, E]{
		at("the selected node is restarted", "", Dual(3, Outdated(1)), acts),
		at("the selected node is down and is restarted", "", Dual(3, Outdated(1), Down(1)), acts),
		at("the selected node is down and differs in another way", "what changed may repair it", Dual(3, Outdated(2), Stale(1), Down(1)), acts),
		at("the pod is terminating", "it is asked to go once more, which does nothing", Dual(3, Outdated(1), Gone(1)), acts),
		at("the pod is away and comes back up to date", "", Dual(3, Gone(1)), m.stays("node-restarted")),
		at("the new pod is refused", "the wait for its readiness says why", Dual(3, Outdated(2), Refused(1)), m.to("restarted", roll.AwaitingReady, 1)),
		at("the old pod is refused", "", Dual(3, Outdated(1), Refused(1)), acts),
		at("the old pod terminates for ever", "another node that is dead may be repaired meanwhile", Dual(3, Outdated(1), NotEnding(1)), m.to(machines.EventPreconditionFailed, m.OnPreconditionFailed)),
		at("the pod was recreated", "", Dual(3, Outdated(2), Starting(1, time.Second)), m.to("restarted", roll.AwaitingReady, 1)),
		at("the pod came up unaided and is up to date", "what else changed waits for its own roll", Dual(3, Outdated(2), Stale(1)), m.to("restarted", roll.AwaitingReady, 1)),
		at("another node went down meanwhile", "the permission is asked again just before", Dual(3, Outdated(1), Down(2)), m.to(machines.EventPreconditionFailed, m.OnPreconditionFailed)),
		at("whether the node can be spared cannot be read", "", Dual(3, Outdated(1), Without(roll.NeedPartitions)), blocked),
		changed, unwanted,
	}
}

func (m Machine[F, E]) awaitingReady() []row[F, E] {
	at := func(name, reason string, nodes roll.Facts, want want[F, E]) row[F, E] {
		return row[F, E]{Name: "awaiting readiness: " + name, Reason: reason, State: roll.AwaitingReady, Data: Hand(1), Facts: m.Facts(nodes), Want: want}
	}
	changed := at("the target changes", "", Dual(3, Outdated(2), Starting(1, time.Second)), m.to(machines.EventTargetChanged, m.OnTargetChange))
	changed.Attempt = m.Another
	unwanted := at("the selected node left the cluster", "", Dual(3, Outdated(2)), m.to(machines.EventInferred, m.Inferred))
	unwanted.Data = Hand(7)
	rows := []row[F, E]{
		at("the selected node starts", "", Dual(3, Outdated(2), Starting(1, time.Second)), m.stays("node-ready")),
		at("the selected node does not come up", "", Dual(3, Outdated(2), Down(1)), m.stays("node-ready")),
		at("the selected node is away", "", Dual(3, Outdated(2), Gone(1)), m.stays("node-ready")),
		at("the selected node is ready", "", Dual(3, Outdated(2)), m.to("ready", roll.AwaitingInSync, 1)),
		at("the selected node does not come up and is outdated again", "what changed may repair it", Dual(3, Outdated(2), Stale(1), Down(1)), m.to("outdated-again", roll.RestartingNode, 1)),
		at("the selected node starts and is outdated again", "a node that starts up is left alone", Dual(3, Outdated(2), Stale(1), Starting(1, time.Second)), m.stays("node-ready")),
		at("the selected node is ready and is outdated again", "what else changed waits for its own roll", Dual(3, Outdated(2), Stale(1)), m.to("ready", roll.AwaitingInSync, 1)),
		at("another that needs a restart is down while something serves", "one node at a time, while there is something to protect", Dual(5, Outdated(2), Down(1), Down(2)), m.stays("node-ready")),
		at("nothing serves, and another that needs a restart is down", "the selected node may need the other to make a majority", Dual(3, Outdated(2), Starting(1, 30*time.Second), Down(2), NothingServes), m.to("down-first", roll.SelectingNode)),
		at("nothing serves, the selected node has died and another is down", "", Dual(3, Outdated(2), Down(1), Down(2), NothingServes), m.to("down-first", roll.SelectingNode)),
		at("nothing serves, the pod of the selected node is refused and another is down", "", Dual(3, Outdated(2), Refused(1), Down(2), NothingServes), m.to("down-first", roll.SelectingNode)),
		at("nothing serves, the selected node has died and the pod of another terminates for ever", "no restart ends it", Dual(3, Outdated(2), Down(1), NotEnding(2), NothingServes), m.stays("node-ready")),
		at("nothing serves, and the selected node died and is outdated again", "what changed may repair it", Dual(3, Outdated(2), Stale(1), Down(1), Down(2), NothingServes), m.to("outdated-again", roll.RestartingNode, 1)),
		at("the selected node keeps dying and is outdated again, and Kafka is silent", "whether it serves is not known", Dual(3, Outdated(2), Stale(1), Looping(1), Silent), m.stays("node-ready")),
		at("another that needs a restart is down, and whether anything serves is not known", "", Dual(3, Outdated(2), Looping(1), Down(2), Without(roll.NeedMembers)), m.stays("node-ready")),
		at("no broker serves, and whether another controller does is not known", "", Split(3, 1, Outdated(2), Down(1), Down(3), Looping(2), Silent, NothingServes, Answering(2)), m.stays("node-ready")),
		at("nothing serves, but the selected node has just started", "it may be all that was missing", Dual(3, Outdated(2), Starting(1, 29*time.Second), Down(2), NothingServes), m.stays("node-ready")),
		at("nothing serves, and the selected node is not placed yet", "", Dual(3, Outdated(2), Gone(1), Down(2), NothingServes), m.stays("node-ready")),
		at("nothing serves, and the other is starting", "", Dual(3, Outdated(2), Down(1), Starting(2, time.Minute), NothingServes), m.stays("node-ready")),
		at("nothing serves, and the other needs no restart", "", Dual(3, Down(1), Down(2), NothingServes), m.stays("node-ready")),
		changed, unwanted,
	}
	if m.FirstStart {
		first := func(name, reason string, nodes roll.Facts, want want[F, E]) row[F, E] {
			r := at(name, reason, nodes, want)
			r.Data = nil
			return r
		}
		rows = append(rows,
			first("the first pods start", "", Dual(3, Starting(0, time.Second), Gone(1), Down(2)), m.stays("node-ready")),
			first("the first pods are all ready", "", Dual(3), m.to("all-ready", m.Done)),
			first("there is no node yet", "", roll.Facts{Now: Now}, m.stays("node-ready")),
		)
	}
	return rows
}

func (m Machine[F, E]) awaitingInSync() []row[F, E] {
	at := func(name, reason string, nodes roll.Facts, want want[F, E]) row[F, E] {
		return row[F, E]{Name: "awaiting sync: " + name, Reason: reason, State: roll.AwaitingInSync, Data: Hand(1), Facts: m.Facts(nodes), Want: want}
	}
	changed := at("the target changes", "", Dual(3, Outdated(2), tight), m.to(machines.EventTargetChanged, m.OnTargetChange))
	changed.Attempt = m.Another
	unwanted := at("the selected node left the cluster", "", Dual(3, Outdated(2)), m.to(machines.EventInferred, m.Inferred))
	unwanted.Data = Hand(7)
	out := Partition("orders-7", []int32{0, 1, 2}, []int32{0, 2})
	return []row[F, E]{
		at("the selected node takes part again", "", Dual(3, Outdated(2), Restarted(1, 10*time.Second)), m.to("in-sync", roll.SelectingNode)),
		at("the selected node is out of an ISR", "", Dual(3, Outdated(2), out), m.stays("in-sync")),
		at("the selected node has not run for one session timeout", "Kafka may still speak of the process before", Dual(3, Outdated(2), Restarted(1, 8*time.Second)), m.stays("in-sync")),
		at("Kafka does not answer", "", Dual(3, Outdated(2), Silent), m.stays("in-sync")),
		at("the selected node goes down again", "", Dual(3, Outdated(2), out, Down(1)), m.to("unready-again", roll.AwaitingReady, 1)),
		at("the selected node is not ready any more, and in sync", "", Dual(3, Outdated(2), Lapsed(1, time.Hour/2)), m.to("unready-again", roll.AwaitingReady, 1)),
		at("the selected node and another that needs a restart are down", "the selected node may be down for what it was restarted with", Dual(3, Outdated(2), out, Down(1), Down(2)), m.to("unready-again", roll.AwaitingReady, 1)),
		at("the selected node takes part again and another that needs a restart is down", "", Dual(3, Outdated(2), Down(2)), m.to("in-sync", roll.SelectingNode)),
		at("another that needs a restart is down", "it may hold what the selected node lacks, and is taken nothing from", Dual(3, Outdated(2), out, Down(2)), m.to("down-first", roll.SelectingNode)),
		at("another that needs a restart is down and Kafka does not answer", "without a majority no node would ever be in sync", Dual(3, Outdated(2), Silent, Down(2)), m.to("down-first", roll.SelectingNode)),
		at("another that needs a restart is starting", "", Dual(3, Outdated(2), out, Starting(2, time.Minute)), m.stays("in-sync")),
		at("another that needs no restart is down", "", Dual(3, out, Down(2)), m.stays("in-sync")),
		changed, unwanted,
	}
}
