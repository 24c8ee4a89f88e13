package roll

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// States of the fragment. They have the same names in every machine.
const (
	SelectingNode  = "SelectingNode"
	AwaitingQuorum = "AwaitingQuorum"
	AwaitingISR    = "AwaitingISR"
	RestartingNode = "RestartingNode"
	AwaitingReady  = "AwaitingReady"
	AwaitingInSync = "AwaitingInSync"

	part = "roll"
)

// Deadlines of the states.
const (
	quorumDeadline = 15 * time.Minute
	syncDeadline   = 30 * time.Minute
	// readyDeadline is also how long a node that was started counts as one that starts, and an ephemeral controller as one that fetches its
	// log again.
	readyDeadline  = 10 * time.Minute
	selectDeadline = 10 * time.Minute

	// patience is how long a started node may take to serve while no node serves, before another node that is down is restarted. A
	// broker without a quorum gives up after a minute (initial.broker.registration.timeout.ms).
	patience = 30 * time.Second
)

// Inclusion declares how a machine includes the roll. F are the machine's facts, E its effects.
type Inclusion[F, E any] struct {
	// Facts returns the roll's facts within the machine's. Required.
	Facts func(*F) *Facts
	// Restart returns the effect that restarts a node. Required.
	Restart func(facts *F, node *Node) E
	// Permit is the machine's precondition of restarts. It is evaluated again, on live facts, before each restart.
	Permit transitions.Guard[F, Data]
	// OnTargetChange is the state to enter from every state of the roll when the target changes.
	OnTargetChange string
	// OnPreconditionFailed is the state to enter if the precondition fails just before a restart.
	OnPreconditionFailed string
	// Done is the state to enter when no node needs a restart.
	Done string
	// FirstStart is true if the machine enters AwaitingReady without a current node, for the first start of all nodes.
	FirstStart bool
}

// States returns the states of the fragment.
func (in Inclusion[F, E]) States() []machines.State[F, Data, E] {
	wait := func(name, doc string, deadline time.Duration, while transitions.Guard[F, Data]) machines.State[F, Data, E] {
		return machines.State[F, Data, E]{
			State:     states.State{Name: name, Kind: states.Wait, Doc: doc, Deadline: deadline, Part: part},
			Invariant: while, OnTargetChange: in.OnTargetChange,
		}
	}
	always := transitions.AlwaysBecause[F, Data]("no node is selected: each reconcile selects the next one again")
	return []machines.State[F, Data, E]{
		wait(SelectingNode, "the next node to restart is being selected", selectDeadline, always),
		wait(AwaitingQuorum, "a restart now would break the metadata quorum", quorumDeadline, always),
		wait(AwaitingISR, "a restart now would take partitions below min.insync.replicas, or another broker is out of an ISR", syncDeadline, always),
		{
			State:     states.State{Name: RestartingNode, Kind: states.Work, Doc: "the selected node restarts", Deadline: readyDeadline, Part: part},
			Invariant: in.selected(), OnTargetChange: in.OnTargetChange, Action: in.restart(),
		},
		in.awaitingReady(wait),
		wait(AwaitingInSync, "the selected node catches up until it is in sync", syncDeadline, in.selected()),
	}
}

func (in Inclusion[F, E]) awaitingReady(
	wait func(name, doc string, deadline time.Duration, while transitions.Guard[F, Data]) machines.State[F, Data, E],
) machines.State[F, Data, E] {
	if in.FirstStart {
		return wait(AwaitingReady, "the selected node, or every node of a new cluster, starts", readyDeadline, in.selectedOrNone())
	}
	return wait(AwaitingReady, "the selected node starts", readyDeadline, in.selected())
}

// Transitions returns the transitions of the fragment.
func (in Inclusion[F, E]) Transitions() []machines.Transition[F, Data] {
	return slices.Concat(in.choosing(), in.selectedTransitions())
}

// choosing returns the transitions that select the next node, and those for what blocks every node.
func (in Inclusion[F, E]) choosing() []machines.Transition[F, Data] {
	may := &machines.Choice[F, Data]{Guard: mayRestart[F](), Pick: in.pick}
	quorum := in.held(quorumAtRisk, "quorum-at-risk", "the metadata quorum blocks the next restart")
	isr := in.held(isrAtRisk, "isr-at-risk", "in-sync replicas block the next restart")
	return []machines.Transition[F, Data]{
		{Event: "all-restarted", From: SelectingNode, To: in.Done, When: transitions.Not(in.outdated(), "no node that needs a restart"), ClearData: true, Outranks: true, Doc: "no node needs a restart any more"},
		{Event: "node-selected", From: SelectingNode, To: RestartingNode, Choose: may, Awaited: true, Outranks: true, Doc: "the first node in order that can be restarted safely"},
		{Event: "node-unready", From: SelectingNode, To: AwaitingReady, Choose: in.other(), EvenIfUnknown: true, Doc: "a node that needs no restart is unavailable: it must become ready first"},
		{Event: "quorum-at-risk", From: SelectingNode, To: AwaitingQuorum, When: quorum, EvenIfUnknown: true, Doc: "a restart of the next node would break the quorum"},
		{Event: "isr-at-risk", From: SelectingNode, To: AwaitingISR, When: isr, EvenIfUnknown: true, Doc: "partitions need the next node in their ISR, or another broker is out of one"},

		{Event: "node-selected", From: AwaitingQuorum, To: RestartingNode, Choose: may, Awaited: true, Outranks: true, Doc: "a node can be restarted safely now"},
		{Event: "quorum-clear", From: AwaitingQuorum, To: SelectingNode, When: transitions.Not(quorum, "no restart blocked by the quorum"), EvenIfUnknown: true, Doc: "the quorum does not block the next restart any more"},
		{Event: "node-selected", From: AwaitingISR, To: RestartingNode, Choose: may, Awaited: true, Outranks: true, Doc: "a node can be restarted safely now"},
		{Event: "isr-clear", From: AwaitingISR, To: SelectingNode, When: transitions.Not(isr, "no restart blocked by in-sync replicas"), EvenIfUnknown: true, Doc: "in-sync replicas do not block the next restart any more"},
	}
}

// selectedTransitions follow the current node from its restart until it takes part again.
func (in Inclusion[F, E]) selectedTransitions() []machines.Transition[F, Data] {
	out := []machines.Transition[F, Data]{
		{Event: "restarted", From: RestartingNode, To: AwaitingReady, When: in.restarted(), Awaited: true, Doc: "the pod was recreated from its desired state"},
		{Event: "ready", From: AwaitingReady, To: AwaitingInSync, When: in.ready(), Awaited: true, Doc: "the pod is ready"},
	}
	if in.FirstStart {
		out = append(out, machines.Transition[F, Data]{Event: "all-ready", From: AwaitingReady, To: in.Done, When: in.allReady(), Doc: "the first pods of all nodes are ready"})
	}
	return append(out, []machines.Transition[F, Data]{
		{Event: "outdated-again", From: AwaitingReady, To: RestartingNode, Choose: in.again(), Outranks: true, Doc: "the desired state changed while the node was down: another restart may repair it"},
		{Event: "down-first", From: AwaitingReady, To: SelectingNode, When: transitions.All(in.inVain(), in.othersFirst()), ClearData: true, Doc: "no node serves, and this node may be waiting for another one that is down"},

		{Event: "unready-again", From: AwaitingInSync, To: AwaitingReady, When: in.unready(), Doc: "the pod is not ready any more"},
		{Event: "in-sync", From: AwaitingInSync, To: SelectingNode, When: in.inSync(), Awaited: true, ClearData: true, Doc: "the node is in sync again"},
		{Event: "down-first", From: AwaitingInSync, To: SelectingNode, When: in.othersFirst(), EvenIfUnknown: true, ClearData: true, Doc: "this node may be waiting for another one that is down and serves no client"},
	}...)
}

func (in Inclusion[F, E]) restart() *machines.Action[F, Data, E] {
	return &machines.Action[F, Data, E]{
		Name: "restart-node", Doc: "updates the selected node to its desired state and evicts its pod",
		Precondition: transitions.All(in.Permit, in.safe()), OnPreconditionFailed: in.OnPreconditionFailed,
		Effects: func(f *F, m Data) []E {
			n := in.Facts(f).Node(m.Node)
			if n == nil || !n.due() {
				return nil
			}
			return []E{in.Restart(f, n)}
		},
	}
}

func (in Inclusion[F, E]) pick(f *F, _ Data) (transitions.Verdict, Data) {
	verdict, data, _ := next(in.Facts(f))
	return verdict, data
}

// Needs declares the facts that a roll observes in Kafka. A machine that includes the roll appends them to its own.
func Needs() []machines.Need {
	return []machines.Need{
		{Name: NeedQuorum, Doc: "the leader, voters and lag of the metadata quorum (DescribeQuorum)"},
		{Name: NeedPartitions, Doc: "the partitions that are not fully in sync, with their min.insync.replicas (Metadata, DescribeConfigs)"},
		{Name: NeedBrokers, Doc: "the registered brokers, with the fenced ones if Kafka reports them (DescribeCluster)"},
		{Name: NeedMembers, Doc: "whether nodes that are not ready answer direct queries as members, and whether their kubelets are alive"},
	}
}

// Codec returns the codec of the persisted data.
func Codec() machines.DataCodec[Data] {
	return machines.DataCodec[Data]{Encode: Encode, Decode: Decode}
}

// Progress counts the nodes that need no restart, except for the current node.
func (in Inclusion[F, E]) Progress() machines.Measure[F, Data] {
	return machines.Measure[F, Data]{Unit: "node", Of: func(f *F, m Data) machines.Count {
		facts := in.Facts(f)
		count := machines.Count{Done: facts.Done(), Total: len(facts.Nodes)}
		if n := facts.Node(m.Node); n != nil {
			count.Current = n.Name()
			if !n.Outdated {
				count.Done-- // not done until it is back in sync
			}
		}
		return count
	}}
}
