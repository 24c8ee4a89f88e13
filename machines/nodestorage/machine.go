// Package nodestorage is the lifecycle of the persistent volumes of a cluster's nodes. A volume that held data and is empty was
// lost. The operator must not format it without approval: the node would join as if it had never held data that the other nodes
// may lack. The machine holds until the volume is back, or until a user approves the formatting and the other nodes are known to
// hold everything.
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
	Intact      = "Intact"
	StorageLost = "StorageLost"
	Formatting  = "Formatting"
)

// Effect permits formatting the storage of one node: its record gets format: allowed.
type Effect struct{ Node int32 }

// formattingDeadline covers the delays of the kubelet between two starts of a failing init container (at most five minutes), the
// delay until the pod sees the changed record (about a minute), and the start of Kafka.
const formattingDeadline = 30 * time.Minute

// safe are all preconditions of formatting.
var safe = transitions.All(storageLost, approved, metadataElsewhere, replicasElsewhere)

// Definition returns the machine: Intact -> StorageLost -> Formatting -> Intact.
func Definition() machines.Definition[Facts, roll.Data, Effect] {
	type (
		state = machines.State[Facts, roll.Data, Effect]
		row   = machines.Transition[Facts, roll.Data]
	)
	const poll = states.DefaultPoll
	return machines.Definition[Facts, roll.Data, Effect]{
		Name: Name, Doc: "keeps the storage of a node that lost a persistent volume from being formatted until that is approved and safe",
		States: []state{
			{State: states.State{Name: Intact, Kind: states.Rest, Doc: "no node is known to have lost a persistent volume"}},
			{State: states.State{Name: StorageLost, Kind: states.Hold, HoldReason: states.Refusal, Doc: "a persistent volume that held data of a node is empty; the node stays down until the volume is back or its formatting is approved", Poll: poll}, OnTargetChange: Intact},
			{State: states.State{Name: Formatting, Kind: states.Work, Doc: "the record of the node permits formatting until the node has registered", Deadline: formattingDeadline, Poll: poll},
				Invariant: transitions.Always[Facts, roll.Data](), OnTargetChange: machines.KeepAttempt, Action: allowFormat},
		},
		Transitions: []row{
			{Event: "storage-lost", From: Intact, To: StorageLost, NewAttempt: true, Choose: &machines.Choice[Facts, roll.Data]{Guard: anyLost, Pick: pickLost}, Doc: "the init container of a pod found a persistent volume empty that held data"},

			{Event: "storage-found", From: StorageLost, To: Intact, When: storageKept, ClearData: true, Doc: "the volume is back, or the node does not exist any more"},
			{Event: "format-allowed", From: StorageLost, To: Formatting, When: recordAllows, Doc: "the record of the node was edited manually and permits formatting"},
			{Event: "approved", From: StorageLost, To: Formatting, When: safe, Awaited: true, OneWay: true, Doc: "the formatting is approved, and the other nodes hold everything"},

			{Event: "formatted", From: Formatting, To: Intact, When: storageKept, Awaited: true, ClearData: true, Doc: "the node runs on its formatted storage and has registered"},
		},
		Needs: []machines.Need{
			{Name: roll.NeedQuorum, Doc: "the voters of the metadata quorum and their lag (DescribeQuorum)"},
			{Name: roll.NeedPartitions, Doc: "the partitions that are not fully in sync, with their ISR (Metadata)"},
		},
		// The target is constant: the loss of another node starts a new attempt, since each needs its own approval.
		Target: func(*Facts) machines.Target { return machines.Target{} },
		Infer: machines.Inference[Facts, roll.Data]{States: []string{Intact, StorageLost, Formatting}, Find: func(f *Facts) (machines.InferredState[roll.Data], transitions.Verdict) {
			if n := f.first(Allowed); n != nil {
				return machines.InferredState[roll.Data]{State: Formatting, Data: roll.Data{Node: n.ID}}, transitions.Allow()
			}
			if n := f.first(Lost); n != nil {
				return machines.InferredState[roll.Data]{State: StorageLost, Data: roll.Data{Node: n.ID}}, transitions.Allow()
			}
			return machines.InferredState[roll.Data]{State: Intact, Data: roll.NoNode()}, transitions.Allow()
		}},
		Data: roll.Codec(),
		Records: []machines.Record{
			{Name: "format", Home: "ConfigMap <pod>-record", Doc: "whether the storage of the node may be formatted, and which of its volumes were in use"},
		},
	}
}

// allowFormat writes the permission once. The init container reads it at its next start. The permission is withdrawn when the node
// has registered.
var allowFormat = &machines.Action[Facts, roll.Data, Effect]{
	Name: "allow-format", Doc: "permits formatting in the record of the selected node, and of no other",
	Precondition: safe, OnPreconditionFailed: StorageLost,
	Effects: func(f *Facts, m roll.Data) []Effect {
		if n := f.Node(m.Node); n != nil && n.Storage == Lost {
			return []Effect{{Node: n.ID}}
		}
		return nil
	},
}
