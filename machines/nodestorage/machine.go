// Package nodestorage is the lifecycle of the persistent volumes of a cluster's nodes.
//
// A volume that held data and is empty was lost. The operator must not format it without approval: the node would join as if it had
// never held data that the other nodes may lack. The machine holds until the volume is back, or until a user approves the formatting
// and the other nodes are known to hold everything.
//
// A user may also request to replace the volumes of a node by empty ones. The machine waits until the other nodes hold everything,
// deletes the claims with the pod, and permits formatting once the other nodes are known to hold everything without the node.
package nodestorage

import (
	"time"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// Name of the machine.
const Name = "kafka-node-storage"

// States of the machine.
const (
	Intact              = "Intact"
	StorageLost         = "StorageLost"
	AwaitingReplacement = "AwaitingReplacement"
	ReplacingStorage    = "ReplacingStorage"
	Formatting          = "Formatting"
)

// Effect permits formatting the storage of one node: its record gets format: allowed.
type Effect struct {
	Node int32
	// Replace is true if instead the claims and the pod of the node are to be replaced.
	Replace bool
}

// formattingDeadline covers the delays of the kubelet between two starts of a failing init container (at most five minutes), the
// delay until the pod sees the changed record (about a minute), and the start of Kafka.
const formattingDeadline = 30 * time.Minute

// Deadlines of a replacement. A request may wait for partitions to get in sync for long. The claims are deleted with the pod, which
// gets its time to stop.
const (
	awaitingDeadline  = time.Hour
	replacingDeadline = 30 * time.Minute
)

// safe are all preconditions of formatting a lost volume, and cleared those of formatting a replaced one.
var (
	safe    = transitions.All(storageLost, approved, metadataElsewhere, replicasElsewhere)
	cleared = transitions.All(storageCleared, metadataElsewhere, replicasElsewhere)
	// formattable is satisfied if one of them is.
	formattable = transitions.All(transitions.Any(transitions.All(storageLost, approved), storageCleared), metadataElsewhere, replicasElsewhere)
)

// Definition returns the machine: Intact -> StorageLost -> Formatting -> Intact, and on request
// Intact -> AwaitingReplacement -> ReplacingStorage -> Formatting -> Intact.
func Definition() machines.Definition[Facts, roll.Data, Effect] {
	type (
		state = machines.State[Facts, roll.Data, Effect]
		row   = machines.Transition[Facts, roll.Data]
	)
	const poll = states.DefaultPoll
	lost := &machines.Choice[Facts, roll.Data]{Guard: anyLost, Pick: pickLost}
	return machines.Definition[Facts, roll.Data, Effect]{
		Name: Name, Doc: "keeps the storage of a node that lost a persistent volume from being formatted until that is approved and safe, and replaces storage on request",
		States: []state{
			{State: states.State{Name: Intact, Kind: states.Rest, Doc: "no node is known to have lost a persistent volume"}},
			{State: states.State{Name: StorageLost, Kind: states.Hold, HoldReason: states.Refusal, Doc: "a persistent volume that held data of a node is empty; the node stays down until the volume is back or its formatting is approved", Poll: poll}, OnTargetChange: Intact},
			{State: states.State{Name: AwaitingReplacement, Kind: states.Wait, Doc: "a user requests to replace the persistent volumes of a node by empty ones, and the other nodes must hold its data first", Deadline: awaitingDeadline, Poll: poll},
				Invariant: transitions.AlwaysBecause[Facts, roll.Data]("replacement-withdrawn ends the wait when no replacement is requested any more"), OnTargetChange: machines.KeepAttempt},
			{State: states.State{Name: ReplacingStorage, Kind: states.Work, Doc: "the claims and the pod of the selected node are deleted", Deadline: replacingDeadline, Poll: poll},
				Invariant: inReplacement, OnTargetChange: machines.KeepAttempt, Action: replaceStorage},
			{State: states.State{Name: Formatting, Kind: states.Work, Doc: "the record of the node permits formatting until the node has registered", Deadline: formattingDeadline, Poll: poll},
				Invariant: transitions.Always[Facts, roll.Data](), OnTargetChange: machines.KeepAttempt, Action: allowFormat},
		},
		Transitions: []row{
			{Event: "storage-lost", From: Intact, To: StorageLost, NewAttempt: true, Choose: lost, Outranks: true, Doc: "the init container of a pod found a persistent volume empty that held data"},
			{Event: "replacement-requested", From: Intact, To: AwaitingReplacement, NewAttempt: true, When: anyReplacement, Doc: "a user requests to replace the persistent volumes of a node"},

			{Event: "storage-found", From: StorageLost, To: Intact, When: storageKept, ClearData: true, Outranks: true, Doc: "the volume is back, or the node does not exist any more"},
			{Event: "format-allowed", From: StorageLost, To: Formatting, When: recordAllows, Outranks: true, Doc: "the record of the node was edited manually and permits formatting"},
			{Event: "replacement-requested", From: StorageLost, To: AwaitingReplacement, When: inReplacement, ClearData: true, Outranks: true, Doc: "a user requests to replace the persistent volumes of this node, so that nothing is held for"},
			{Event: "approved", From: StorageLost, To: Formatting, When: safe, Awaited: true, OneWay: true, Doc: "the formatting is approved, and the other nodes hold everything"},

			{Event: "storage-lost", From: AwaitingReplacement, To: StorageLost, NewAttempt: true, Choose: lost, Outranks: true, Doc: "another node has lost a volume: no data is given up meanwhile"},
			{Event: "replacement-withdrawn", From: AwaitingReplacement, To: Intact, When: transitions.Not(anyReplacement, "no replacement to be requested"), Doc: "the annotation was removed, or the pod is gone"},
			{Event: "node-selected", From: AwaitingReplacement, To: ReplacingStorage, Choose: &machines.Choice[Facts, roll.Data]{Guard: mayReplace, Pick: pickReplacement}, Awaited: true, OneWay: true, Doc: "the first node that can be restarted safely and whose data the other nodes hold"},

			{Event: "storage-lost", From: ReplacingStorage, To: StorageLost, NewAttempt: true, Choose: lost, Outranks: true, Doc: "another node has lost a volume: no more data is given up meanwhile"},
			{Event: "storage-cleared", From: ReplacingStorage, To: Formatting, When: cleared, Awaited: true, OneWay: true, Doc: "the old claims are gone, and the other nodes hold everything without the node"},

			{Event: "storage-lost", From: Formatting, To: StorageLost, NewAttempt: true, Choose: &machines.Choice[Facts, roll.Data]{Guard: lostBeside, Pick: pickLostBeside}, Outranks: true, Doc: "the record permits formatting, and another node has lost a volume: it does not wait for the start of the first"},
			{Event: "formatted", From: Formatting, To: Intact, When: storageKept, Awaited: true, ClearData: true, Doc: "the node runs on its formatted storage and has registered"},
		},
		Needs: roll.Needs(),
		// The target is constant: the loss of another node starts a new attempt, since each needs its own approval.
		Target: func(*Facts) machines.Target { return machines.Target{} },
		Infer: machines.Inference[Facts, roll.Data]{States: []string{Intact, StorageLost, Formatting}, Find: func(f *Facts) (machines.InferredState[roll.Data], transitions.Verdict) {
			if n := f.lost(); n != nil {
				return machines.InferredState[roll.Data]{State: StorageLost, Data: roll.Data{Node: n.ID}}, transitions.Allow()
			}
			if n := f.allowed(); n != nil {
				return machines.InferredState[roll.Data]{State: Formatting, Data: roll.Data{Node: n.ID}}, transitions.Allow()
			}
			return machines.InferredState[roll.Data]{State: Intact, Data: roll.NoNode()}, transitions.Allow()
		}},
		Data: roll.Codec(),
		Records: []machines.Record{
			{Name: "format", Home: "ConfigMap <pod>-record", Doc: "whether the storage of the node may be formatted, and which of its volumes were in use"},
			{Name: "replaced", Home: "ConfigMap <pod>-record", Doc: "the UIDs of the pod and the claims that are replaced on request, until the node has registered on the new ones"},
		},
	}
}

// allowFormat writes the permission once. The init container reads it at its next start. The permission is withdrawn when the node
// has registered.
var allowFormat = &machines.Action[Facts, roll.Data, Effect]{
	Name: "allow-format", Doc: "permits formatting in the record of the selected node, and of no other",
	Precondition: formattable, OnPreconditionFailed: StorageLost,
	Effects: func(f *Facts, m roll.Data) []Effect {
		if n := f.Node(m.Node); n != nil && n.Storage != Allowed && (n.Storage == Lost || n.Replacement == Cleared) {
			return []Effect{{Node: n.ID}}
		}
		return nil
	},
}
