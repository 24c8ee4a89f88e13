// Package kraftscaledown is the lifecycle of brokers that are removed from a KRaft cluster. A broker leaves because the spec does
// not request it any more, because its pool was deleted, because its node lost the broker role, or because only its registration
// is left from the past.
//
// A broker is stopped only if it is known to hold no replica, and its registration is removed only after its process is gone:
// Kafka unregisters a live broker with replicas without an error, and the broker then hangs outside of every ISR. Its id may be
// used again only after that. On request its replicas are moved away first: it is cordoned, drained, and then un-cordoned, because a
// cordon can be lifted only while the broker runs.
package kraftscaledown

import (
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Name of the machine.
const Name = "kraft-scale-down"

// States of the machine.
const (
	Steady                = "Steady"
	Refusing              = "Refused"
	AwaitingEmpty         = "AwaitingEmpty"
	StoppingNode          = "StoppingNode"
	AwaitingGone          = "AwaitingGone"
	AwaitingSession       = "AwaitingSession"
	Unregistering         = "Unregistering"
	UnregistrationRefused = "UnregistrationRefused"
	AwaitingSettled       = "AwaitingSettled"
	Releasing             = "Releasing"
	Returning             = "Returning"
	Cordoning             = "Cordoning"
	Draining              = "Draining"
	EndingDrain           = "EndingDrain"
	DrainRefused          = "DrainRefused"
)

// heldDrain is what a drain holds of a broker.
const heldDrain = "drain"

// Effect is one request. Exactly one of its fields is set.
type Effect struct {
	// Stop takes the broker role from the node: its record forbids it from now on, and its pod is removed, or restarted without the
	// role by the roll.
	Stop *int32
	// Return lets a stopped node run as a broker again: its record permits it, and its pod is created as it last ran.
	Return *int32
	// Unregister removes the registration of the broker from Kafka.
	Unregister *int32
	// Release deletes the record of the node, which frees its id.
	Release *int32
	// Drain remembers in the record of the node that it is drained.
	Drain *Drain
	// Cordon sets or lifts the cordon of the broker.
	Cordon *kafka.Cordon
	// Move requests or cancels reassignments.
	Move []kafka.Move
	// EndDrain deletes from the record of the node that it is drained.
	EndDrain *int32
}

// Drain is a drain that begins.
type Drain struct {
	Broker int32
	// Partitions is the number of partitions with a replica on the broker, at least 1.
	Partitions int
}

// Deadlines after which a state is Stalled.
const (
	emptyDeadline = 24 * time.Hour // replicas are moved by users, by a rebalancer, or by a drain
	goneDeadline  = 10 * time.Minute
	workDeadline  = 10 * time.Minute
)

// emptyPoll is how often it is checked whether a broker holds replicas. A check reads all partitions of the cluster, and may be
// repeated for days.
const emptyPoll = 30 * time.Second

// evidenceAge is the maximum age of the answers that show whether brokers are empty. It exceeds emptyPoll: otherwise they would be
// unknown at each poll until Kafka has answered again, and what users are shown of them would change twice.
const evidenceAge = 2 * emptyPoll

type row = machines.Transition[Facts, roll.Data]

// Definition returns the machine: Steady -> AwaitingEmpty (-> Cordoning -> Draining -> EndingDrain) -> StoppingNode -> AwaitingGone -> Unregistering -> Releasing -> Steady.
//
//nolint:funlen // the complete graph is readable in one place
func Definition() machines.Definition[Facts, roll.Data, Effect] {
	type (
		state  = machines.State[Facts, roll.Data, Effect]
		choice = machines.Choice[Facts, roll.Data]
	)
	not, all := transitions.Not[Facts, roll.Data], transitions.All[Facts, roll.Data]
	always := transitions.AlwaysBecause[Facts, roll.Data]("its transitions read observed facts, and one of them is due whenever the broker or its registration has changed")
	wait := func(name string, deadline time.Duration, onTargetChange, doc string) state {
		return state{State: states.State{Name: name, Kind: states.Wait, Doc: doc, Deadline: deadline}, Invariant: always, OnTargetChange: onTargetChange}
	}
	work := func(name string, action *machines.Action[Facts, roll.Data, Effect], doc string) state {
		return state{State: states.State{Name: name, Kind: states.Work, Doc: doc, Deadline: workDeadline}, Invariant: always, OnTargetChange: machines.KeepAttempt, Action: action}
	}
	hold := func(name string, reason states.HoldReason, onTargetChange, doc string) state {
		return state{State: states.State{Name: name, Kind: states.Hold, HoldReason: reason, Doc: doc, Poll: states.DefaultPoll}, OnTargetChange: onTargetChange}
	}
	blocked := wait(AwaitingEmpty, emptyDeadline, AwaitingEmpty, "brokers leave; the next one that holds no replica is stopped")
	blocked.Poll = emptyPoll
	refusedToUnregister := hold(UnregistrationRefused, states.Advice, AwaitingEmpty, "Kafka refused to unregister the selected broker; retried after a back-off, in which other brokers are stopped and drained")
	refusedToUnregister.Retains = []string{heldDrain} // of another broker, whose drain continues after the back-off
	remains := not(leaving, "a broker that is desired again")
	withdrawn := not(drainRequested, "a drain that is not requested any more")
	return machines.Definition[Facts, roll.Data, Effect]{
		Name: Name, Doc: "removes brokers: each is empty before it is stopped, and gone before it is unregistered",
		States: []state{
			{State: states.State{Name: Steady, Kind: states.Rest, Doc: "every broker that exists or is registered is desired"}},
			blocked,
			work(Cordoning, cordon, "the selected broker is being cordoned, so that it gets no new replicas"),
			{
				State:     states.State{Name: Draining, Kind: states.Work, Doc: "the replicas of the selected broker are being moved to brokers that stay", Deadline: emptyDeadline},
				Invariant: always, OnTargetChange: machines.KeepAttempt, Action: moveReplicas,
			},
			work(EndingDrain, endDrain, "moves off the selected broker are cancelled, and its cordon is lifted while it runs"),
			work(StoppingNode, stopNode, "the selected broker is being stopped"),
			wait(AwaitingGone, goneDeadline, machines.KeepAttempt, "the process of the selected broker has to be gone and its session to have ended"),
			wait(AwaitingSession, goneDeadline, machines.KeepAttempt, "Kafka before 4.0 does not list fenced brokers: the selected broker has to be absent for a session timeout"),
			work(Unregistering, unregister, "the registration of the selected broker is being removed"),
			wait(AwaitingSettled, goneDeadline, machines.KeepAttempt, "a request to unregister whose outcome is not known may still take effect"),
			work(Releasing, release, "the record of the selected broker is being deleted, which frees its id"),
			work(Returning, bringBack, "the selected node is to run as a broker again"),
			refusedToUnregister,
			hold(DrainRefused, states.Refusal, AwaitingEmpty, "the brokers that stay cannot keep the replication factor of a topic; no replica is moved"),
			hold(Refusing, states.Refusal, AwaitingEmpty, "controllers of a static quorum are not removed; their nodes keep running"),
		},
		Transitions: []row{
			{Event: "broker-leaving", From: Steady, To: AwaitingEmpty, NewAttempt: true, When: anyLeaving, Outranks: true, Doc: "a broker is not desired any more"},
			{Event: "removal-refused", From: Steady, To: Refusing, NewAttempt: true, When: not(permitted, "a controller that is not desired"), EvenIfUnknown: true, Doc: "a controller is not desired any more"},

			{Event: "stopped-in-error", From: AwaitingEmpty, To: Returning, Choose: &choice{Guard: stoppedInError, Pick: pickStoppedInError}, Outranks: true, Doc: "a stopped node is desired again, or holds replicas"},
			{Event: "drain-withdrawn", From: AwaitingEmpty, To: EndingDrain, Choose: &choice{Guard: drainOver, Pick: pickDrainOver}, EvenIfUnknown: true, Outranks: true, Doc: "a drain that was begun is not requested any more"},
			{Event: "gone-already", From: AwaitingEmpty, To: AwaitingGone, Choose: &choice{Guard: goneAlready, Pick: pickGone}, EvenIfUnknown: true, Outranks: true, Doc: "a broker has no process, and may only have to be unregistered"},
			{Event: "broker-empty", From: AwaitingEmpty, To: StoppingNode, Choose: &choice{Guard: anyEmpty, Pick: pickEmpty}, Awaited: true, Outranks: true, Doc: "a broker holds no replica"},
			{Event: "drain-requested", From: AwaitingEmpty, To: Cordoning, Choose: &choice{Guard: drainable, Pick: pickDrainable}, EvenIfUnknown: true, Doc: "a broker holds replicas, and its drain is requested"},
			{Event: "drain-refused", From: AwaitingEmpty, To: DrainRefused, When: not(drainPossible, "a drain that cannot end"), Releases: []string{heldDrain}, Doc: "too few brokers stay"},
			{Event: "nothing-leaving", From: AwaitingEmpty, To: Steady, When: not(anyLeaving, "no broker to remove"), EvenIfUnknown: true, ClearData: true, Releases: []string{heldDrain}, Doc: "every broker that is known is desired"},

			{Event: "drain-withdrawn", From: Cordoning, To: EndingDrain, When: withdrawn, Outranks: true, Doc: "the drain is not requested any more, or cannot continue"},
			{Event: "drain-deferred", From: Cordoning, To: EndingDrain, When: otherFirst, EvenIfUnknown: true, Outranks: true, Doc: "the broker is down or cannot read a directory, and another one does not wait for its cordon; it is drained after that one"},
			{Event: "cordoned", From: Cordoning, To: Draining, When: cordonSet, Awaited: true, EvenIfUnknown: true, Doc: "the broker gets no new replicas"},
			{Event: "drain-withdrawn", From: Draining, To: EndingDrain, When: withdrawn, Outranks: true, Doc: "the drain is not requested any more, or cannot continue"},
			{Event: "drained", From: Draining, To: EndingDrain, When: selectedDrained, Awaited: true, Doc: "the broker holds no replica"},
			{Event: "drain-refused", From: Draining, To: EndingDrain, When: not(enoughStay, "a drain that cannot end"), Doc: "too few brokers stay, since further brokers leave"},
			{Event: "drain-deferred", From: Draining, To: EndingDrain, When: otherFirst, EvenIfUnknown: true, Doc: "the broker is down or cannot read a directory, and another one does not wait for it; it is drained after that one"},
			{Event: "drain-ended", From: EndingDrain, To: AwaitingEmpty, When: drainEnded, Awaited: true, ClearData: true, Outranks: true, Releases: []string{heldDrain}, Doc: "nothing of the drain is left"},
			{Event: "process-gone", From: EndingDrain, To: AwaitingEmpty, When: processGone, EvenIfUnknown: true, ClearData: true, Doc: "the cordon of a broker cannot be lifted before it runs again; its record keeps the drain"},
			{Event: "drain-possible", From: DrainRefused, To: AwaitingEmpty, When: drainPossible, Awaited: true, Doc: "the brokers can be drained, or removed without a drain"},

			{Event: "stopped", From: StoppingNode, To: AwaitingGone, When: all(leaving, processGone), Awaited: true, Outranks: true, Doc: "the process of the broker is gone"},
			{Event: "desired-again", From: StoppingNode, To: Returning, When: remains, Doc: "the broker is desired again"},
			{Event: "replicas-found", From: StoppingNode, To: Returning, When: all(stoppedHere, not(selectedEmpty, "a replica on the broker")), Doc: "a replica was created on the broker while its process waited for its end"},

			{Event: "desired-again", From: AwaitingGone, To: Returning, When: all(remains, settled), Outranks: true, Doc: "the broker is desired again"},
			{Event: "replicas-found", From: AwaitingGone, To: Returning, When: all(stoppedHere, settled, not(nothingLeft, "a partition with a replica on the broker")), Outranks: true, EvenIfUnknown: true, Doc: "a replica was created on the broker after it was found empty"},
			{Event: "not-registered", From: AwaitingGone, To: Releasing, When: all(leaving, processGone, nothingLeft, notRegistered, settled), Doc: "the broker is not registered"},
			{Event: "broker-fenced", From: AwaitingGone, To: Unregistering, When: all(leaving, processGone, nothingLeft, fenced), Awaited: true, OneWay: true, Doc: "the session of the broker has ended"},
			{Event: "removal-deferred", From: AwaitingGone, To: AwaitingEmpty, When: all(leaving, processGone, settled, aliveElsewhere), EvenIfUnknown: true, ClearData: true, Doc: "a process outside of this cluster runs the broker, and another one does not wait for its end"},
			{Event: "broker-absent", From: AwaitingGone, To: AwaitingSession, When: all(leaving, processGone, absent), Doc: "the session of the broker may have ended"},

			{Event: "desired-again", From: AwaitingSession, To: AwaitingGone, When: remains, Outranks: true, Doc: "the broker is desired again"},
			{Event: "listed-again", From: AwaitingSession, To: AwaitingGone, When: not(absent, "a broker that Kafka lists"), Outranks: true, Doc: "a process of the broker is alive"},
			{Event: "session-ended", From: AwaitingSession, To: Unregistering, When: all(leaving, processGone, nothingLeft, absentForSession), Awaited: true, OneWay: true, Doc: "the session of the broker has ended"},

			{Event: "unregistered", From: Unregistering, To: Releasing, When: confirmed, Awaited: true, Outranks: true, Doc: "the broker is not registered any more"},
			{Event: "unregistration-refused", From: Unregistering, To: UnregistrationRefused, When: refused, EvenIfUnknown: true, Outranks: true, Doc: "Kafka refused"},
			{Event: "answer-lost", From: Unregistering, To: AwaitingSettled, When: uncertain, EvenIfUnknown: true, Outranks: true, Doc: "an outcome that is not known has to settle"},
			{Event: "desired-again", From: Unregistering, To: AwaitingGone, When: all(unasked, remains), EvenIfUnknown: true, Doc: "the broker is desired again"},

			{Event: "settled", From: AwaitingSettled, To: AwaitingEmpty, When: settled, Awaited: true, ClearData: true, Doc: "the registrations show the outcome; without a persisted state it is not known of which broker"},
			{Event: "drain-withdrawn", From: UnregistrationRefused, To: EndingDrain, Choose: &choice{Guard: drainOver, Pick: pickDrainOver}, EvenIfUnknown: true, Outranks: true, Doc: "a drain that was begun is not requested any more; a refusal does not hold up its end"},
			{Event: "broker-empty", From: UnregistrationRefused, To: StoppingNode, Choose: &choice{Guard: anyEmpty, Pick: pickEmpty}, EvenIfUnknown: true, Outranks: true, Doc: "a broker holds no replica; a refusal does not hold up its removal"},
			{Event: "drain-requested", From: UnregistrationRefused, To: Cordoning, Choose: &choice{Guard: drainable, Pick: pickDrainable}, EvenIfUnknown: true, Outranks: true, Doc: "a broker holds replicas, and its drain is requested; a refusal does not hold it up"},
			{Event: "ask-again", From: UnregistrationRefused, To: AwaitingGone, Choose: &choice{Guard: askAgain, Pick: pickAgain}, Awaited: true, EvenIfUnknown: true, Doc: "the back-off has passed"},

			{Event: "released", From: Releasing, To: AwaitingEmpty, NewAttempt: true, When: released, Awaited: true, ClearData: true, Doc: "nothing of the broker is left; each removal is an attempt of its own"},
			{Event: "returned", From: Returning, To: AwaitingEmpty, When: running, Awaited: true, ClearData: true, Doc: "the node may run as a broker again"},

			{Event: "broker-leaving", From: Refusing, To: AwaitingEmpty, When: anyLeaving, Outranks: true, Doc: "a broker is not desired any more"},
			{Event: "removal-withdrawn", From: Refusing, To: Steady, When: permitted, Awaited: true, EvenIfUnknown: true, Doc: "every controller is desired"},
		},
		Needs: []machines.Need{
			{Name: roll.NeedBrokers, Doc: "the registrations of brokers, including fenced ones from 4.0 on (DescribeCluster)"},
			{Name: roll.NeedPartitions, MaxAge: evidenceAge, Doc: "the number of replicas on each broker (Metadata)"},
			{Name: kafkaversion.NeedFeatures, Doc: "the finalized metadata level, from which brokers can be cordoned (ApiVersions)"},
			{Name: NeedMoves, Doc: "the partitions of the brokers that leave, and all reassignments in progress (Metadata, ListPartitionReassignments)"},
			{Name: NeedCordons, Doc: "the cordons of the brokers that leave or are drained, and of those that may get their replicas (DescribeConfigs)"},
			{Name: NeedLogDirs, MaxAge: evidenceAge, Doc: "the replicas in the log directories of the brokers that leave (DescribeLogDirs)"},
		},
		Target: func(f *Facts) machines.Target { return machines.Target{To: f.target()} },
		Infer: machines.Inference[Facts, roll.Data]{States: []string{Steady, AwaitingEmpty, AwaitingSettled}, Sees: []string{heldDrain}, Find: func(f *Facts) (machines.InferredState[roll.Data], transitions.Verdict) {
			return machines.InferredState[roll.Data]{State: f.inferred(), Data: roll.NoNode()}, transitions.Allow()
		}},
		Progress: machines.Measure[Facts, roll.Data]{Unit: "partition", Of: drained},
		Data:     roll.Codec(),
		Records: []machines.Record{
			{Name: "stop", Home: "ConfigMap <pod>-record", Doc: "the node may not run as a broker any more, and its id is not free until the record is deleted"},
			{Name: "drain", Home: "ConfigMap <pod>-record", Doc: "the broker is drained: it may be cordoned, and moves off it may be in progress; with the number of its partitions at the start"},
		},
		HeldResources: []machines.HeldResource{
			{Name: heldDrain, Doc: "a broker is cordoned and its replicas are being moved; it gets no new replicas meanwhile"},
		},
	}
}

// inferred returns the state without a persisted one. A request to unregister may have been sent for a stopped node: its outcome
// must settle before the node may return.
func (f *Facts) inferred() string {
	if len(f.Nodes) == 0 {
		return Steady
	}
	for i := range f.Nodes {
		if f.Nodes[i].Stopped && f.unsettled() {
			return AwaitingSettled
		}
	}
	return AwaitingEmpty
}

// stopNode repeats the check for replicas on live facts.
var stopNode = &machines.Action[Facts, roll.Data, Effect]{
	Name: "stop-node", Doc: "forbids the node to run as a broker in its record, and removes its pod",
	Precondition: transitions.All(leaving, notDraining, selectedEmpty), OnPreconditionFailed: AwaitingEmpty,
	Effects: func(f *Facts, m roll.Data) []Effect {
		if n := f.node(m.Node); n != nil && n.Runs && !n.Ending {
			return []Effect{{Stop: &n.ID}}
		}
		return nil
	},
}

// unregister repeats everything that was required on the way to it: a registration that is removed too early leaves a broker
// behind that hangs.
var unregister = &machines.Action[Facts, roll.Data, Effect]{
	Name: "unregister", Doc: "requests Kafka to remove the registration of the broker", Needs: registrations(), ResolvedBy: roll.NeedBrokers,
	Precondition: transitions.All(leaving, processGone, nothingLeft, sessionEnded), OnPreconditionFailed: AwaitingEmpty,
	Effects: func(f *Facts, m roll.Data) []Effect {
		if unasked.Verdict(f, m).Answer != transitions.Yes || uncertain.Verdict(f, m).Answer == transitions.Yes {
			return nil
		}
		return []Effect{{Unregister: &m.Node}}
	},
}

var release = &machines.Action[Facts, roll.Data, Effect]{
	Name: "release", Doc: "deletes the record and the configuration of the node", Needs: registrations(),
	Precondition: transitions.All(leaving, processGone, unlisted), OnPreconditionFailed: AwaitingEmpty,
	Effects: func(f *Facts, m roll.Data) []Effect {
		if n := f.node(m.Node); n != nil {
			return []Effect{{Release: &n.ID}}
		}
		return nil
	},
}

var bringBack = &machines.Action[Facts, roll.Data, Effect]{
	Name: "bring-back", Doc: "permits the node to run as a broker in its record",
	Precondition: returnable, OnPreconditionFailed: AwaitingEmpty,
	Effects: func(f *Facts, m roll.Data) []Effect {
		if n := f.node(m.Node); n != nil && n.Stopped {
			return []Effect{{Return: &n.ID}}
		}
		return nil
	},
}
