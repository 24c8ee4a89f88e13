// Package noderoll is the lifecycle of the pods of a cluster. It applies every change of a node's desired state other than its
// version (configuration, resources, the operator's template) by restarting the node, one node at a time.
package noderoll

import (
	"slices"
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Name of the machine.
const Name = "node-roll"

// States of the machine itself. Package roll declares those of the roll.
const (
	Settled      = "Settled"
	AwaitingSlot = "AwaitingSlot"
)

const (
	// slotDeadline is when a roll that waits for a slot becomes Stalled.
	slotDeadline = 24 * time.Hour
	// slotPoll is how often the position in the queue is refreshed. The end of another roll enqueues the next cluster.
	slotPoll = time.Minute
)

// Facts of a roll of nodes.
type Facts struct {
	// Roll are the nodes. A node is outdated if the revision of its pod differs from the desired one.
	Roll roll.Facts
	// VersionChange is why the version change, and not this machine, restarts nodes: some node does not run the desired version
	// yet. It is nil if all nodes do, although the metadata level may still be open (a soaking time takes days), or if the
	// change is refused.
	VersionChange *transitions.Problem
	// SpecError is why the spec cannot be applied at all, as for the version change, which reports it in the status. It is nil
	// if the spec is valid.
	SpecError *transitions.Problem
	// Slot is what the limit on clusters that roll at once says of this one.
	Slot transitions.Fact[Slot] `need:"slot"`
	// Wanted is a digest of the desired state of all nodes.
	Wanted string
}

// Effect restarts one node with its desired state, on the version that it runs.
type Effect struct{ Node int32 }

type guard = transitions.Guard[Facts, roll.Data]

// versionIdle blocks the roll during a version change, whose restarts apply the new content too.
var versionIdle = guard{
	Name: "no-version-change", Doc: "no version change is in progress", Expected: "the version change to end: its restarts apply the desired state too",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict { return f.VersionChange.Verdict() },
}

// sound blocks restarts while the spec is invalid.
var sound = guard{
	Name: "declaration-sound", Doc: "the spec can be applied", Expected: "a spec that can be applied; kafka-version-change reports the error",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict { return f.SpecError.Verdict() },
}

var current = guard{
	Name: "revisions-current", Doc: "every pod matches its desired state", Expected: "every pod at its desired state",
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		return transitions.If(f.Roll.Done() == len(f.Roll.Nodes), "a pod is outdated")
	},
}

var included = roll.Inclusion[Facts, Effect]{
	Facts:          func(f *Facts) *roll.Facts { return &f.Roll },
	Restart:        func(_ *Facts, n *roll.Node) Effect { return Effect{Node: n.ID} },
	Permit:         transitions.All(versionIdle, sound),
	OnTargetChange: roll.SelectingNode, OnPreconditionFailed: roll.SelectingNode, Done: Settled,
}

// Definition returns the machine: Settled -> the roll -> Settled.
func Definition() machines.Definition[Facts, roll.Data, Effect] {
	type row = machines.Transition[Facts, roll.Data]
	wanted := transitions.All(transitions.Not(current, "an outdated pod"), versionIdle, sound)
	return machines.Definition[Facts, roll.Data, Effect]{
		Name: Name, Doc: "restarts nodes one at a time so that each matches its desired state",
		States: slices.Concat([]machines.State[Facts, roll.Data, Effect]{
			{State: states.State{Name: Settled, Kind: states.Rest, Doc: "every pod matches its desired state, or the version change restarts it, or the spec cannot be applied"}},
			{
				State:          states.State{Name: AwaitingSlot, Kind: states.Wait, Doc: "nodes need a restart, and the cluster is queued for a slot of --max-active", Deadline: slotDeadline, Poll: slotPoll},
				Invariant:      transitions.AlwaysBecause[Facts, roll.Data]("roll-unneeded ends the wait when no pod needs a restart any more"),
				OnTargetChange: machines.KeepAttempt,
			},
		}, included.States()),
		Transitions: slices.Concat([]row{
			{Event: "revision-changed", From: Settled, To: roll.SelectingNode, NewAttempt: true, When: transitions.All(wanted, slotGranted), Doc: "a pod differs from its desired state"},
			{Event: "slot-needed", From: Settled, To: AwaitingSlot, NewAttempt: true, When: transitions.All(wanted, transitions.Not(slotGranted, "a roll that needs a slot first")), Doc: "a pod differs from its desired state, and the number of clusters that roll at once is limited"},
			{Event: "roll-unneeded", From: AwaitingSlot, To: Settled, When: transitions.Not(wanted, "no permitted restart"), ClearData: true, Doc: "no pod is outdated any more, a version change has begun, or the spec cannot be applied"},
			{Event: "slot-granted", From: AwaitingSlot, To: roll.SelectingNode, When: transitions.All(wanted, slotGranted), Awaited: true, Doc: "a slot is free and this cluster is next, or the restart may repair a node"},
			{Event: "version-first", From: roll.SelectingNode, To: Settled, When: transitions.Not(versionIdle, "a version change"), Outranks: true, ClearData: true, Doc: "a version change has begun: its restarts apply the desired state too"},
			{Event: "declaration-broken", From: roll.SelectingNode, To: Settled, When: transitions.Not(sound, "a spec that cannot be applied"), Outranks: true, ClearData: true, Doc: "the spec cannot be applied any more"},
		}, included.Transitions()),
		Needs:  append(roll.Needs(), machines.Need{Name: NeedSlot, Doc: "the slot of --max-active, from the status of all clusters in the cache"}),
		Target: func(f *Facts) machines.Target { return machines.Target{To: f.Wanted} },
		Infer: machines.Inference[Facts, roll.Data]{States: []string{Settled}, Find: func(*Facts) (machines.InferredState[roll.Data], transitions.Verdict) {
			return machines.InferredState[roll.Data]{State: Settled, Data: roll.NoNode()}, transitions.Allow()
		}},
		Progress: included.Progress(),
		Data:     roll.Codec(),
		Records:  []machines.Record{{Name: "entry", Home: "StrimziPodSet spec.pods", Doc: "the desired state that each pod last ran with; changed only in the pass that restarts it"}},
	}
}
