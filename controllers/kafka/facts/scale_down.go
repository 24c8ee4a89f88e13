package facts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/nodeids"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// AnnotationSkipCheck permits with "true" that a broker is removed although it holds replicas. Its meaning is Strimzi's.
const AnnotationSkipCheck = labels.SkipCheck

// SkipsCheck reports whether the annotation that skips the check for replicas is set.
func SkipsCheck(k *kafkav1beta2.Kafka) bool { return lifecycle.HasFlag(k, AnnotationSkipCheck) }

// ScaleDown returns the facts of the removal of brokers. While it is uncertain which nodes belong to the cluster, no broker leaves. While
// the spec cannot be applied, the brokers that run stay, and those that were stopped are unregistered. A node that loses the broker role
// also stays while no node may be restarted.
func ScaleDown(k *kafkav1beta2.Kafka, v *observation.Snapshot, ask machines.ObserveOptions) kraftscaledown.Facts {
	f := kraftscaledown.Facts{
		Now: v.Now, SessionTimeout: observation.SessionTimeout(k, v), EnteredAt: ask.EnteredAt, Pause: cmp.Or(v.Options.RefusalPause, refusalPause),
		SkipCheck: SkipsCheck(k), Drain: observation.Drains(k),
		InFlight: inFlight(v.Unregistering), LogDirs: v.LogDirs, Cordons: v.Cordons, Moves: v.Moves,
	}
	given := v.Answer(observation.LifecycleScaleDown)
	f.Answer = answer(given)
	if f.Answer.Text == "" && ask.RequestID.State == kraftscaledown.UnregistrationRefused {
		_, f.Answer.Text, _ = strings.Cut(firstObserved(k, observation.LifecycleScaleDown), kraftscaledown.StillRegistered)
		f.Answer.Text, _, _ = strings.Cut(f.Answer.Text, kraftscaledown.DrainRefusedBecause)
	}
	f.NotRegistered = given.State == external.Refused && given.Code == int(kafkaclient.CodeBrokerIDNotRegistered)
	if ask.Wants(roll.NeedBrokers) {
		f.Brokers = v.Brokers
	}
	if ask.Wants(roll.NeedPartitions) {
		f.Partitions = v.Partitions
	}
	if ask.Wants(kafkaversion.NeedFeatures) {
		f.Features = v.Features
	}
	if cmp.Or(observation.Foreign(v), v.Identity.Mismatch, v.IDs.Refusal) != nil {
		f.Wanted = everyBroker(v)
		return f
	}
	addNodes(k, v, &f)
	f.Refusal = controllersStay(v)
	return f
}

// addNodes adds the desired brokers and those that leave.
func addNodes(k *kafkav1beta2.Kafka, v *observation.Snapshot, f *kraftscaledown.Facts) {
	invalid, unstartable := SpecError(k, v) != nil, startError(k, v) != nil
	f.Wanted = make([]int32, 0, len(v.Nodes))
	for i := range v.Nodes {
		n := &v.Nodes[i]
		removal := n.Removal()
		if heldBack := invalid || unstartable && removal == observation.Demoted; heldBack && !n.Record.Stop && v.RunsAsBroker(n) {
			removal = observation.Stays
		}
		stays := removal == observation.Stays && (n.Wanted && n.RolesWanted.Broker || n.WasBroker())
		if stays {
			f.Wanted = append(f.Wanted, n.ID)
			if down(n, v.Now) {
				f.Down = append(f.Down, n.ID)
			}
		}
		if removal != observation.Stays || stays && n.Recorded && (n.Record.Stop || n.Record.Draining > 0) {
			f.Nodes = append(f.Nodes, kraftscaledown.Node{
				ID: n.ID, Pod: n.PodName, Wanted: stays, Runs: v.RunsAsBroker(n), Stopped: n.Record.Stop,
				Ending: n.Record.Stop && !(removal == observation.Leaves && n.Entry.Exists), Kept: kept(k, v, n),
				Down: down(n, v.Now), Unused: unused(n), Draining: n.Record.Draining, Held: held(v, n.ID),
			})
		}
	}
	slices.Reverse(f.Nodes) // the highest id first
}

// ReasonEvictionNotPermitted is the reason for which the pod of a stopped node stays: its disruption budget permits no eviction.
const ReasonEvictionNotPermitted transitions.Reason = "EvictionNotPermitted"

// kept returns why the pod of a stopped node is not evicted now; nil if its disruption budget permits it, or does not matter because the
// pod is not ready.
func kept(k *kafkav1beta2.Kafka, v *observation.Snapshot, n *observation.Node) *transitions.Problem {
	b := observation.Named(v.Objects.Budgets, labels.KafkaName(k.Name))
	if !n.Stopped() || !n.Pod.Ready || b == nil || b.Status.ObservedGeneration != b.Generation || b.Status.DisruptionsAllowed > 0 {
		return nil
	}
	return transitions.Problemf(ReasonEvictionNotPermitted, "PodDisruptionBudget %s permits no eviction now. Make the other pods of the cluster ready", b.Name)
}

// downAfter exceeds the time that a node usually takes for a restart.
const downAfter = 2 * time.Minute

// down reports whether the node's pod has not been ready for longer than a restart takes, or cannot be created. A pod that does not exist
// is otherwise created at once, and counts from then on.
func down(n *observation.Node, now time.Time) bool {
	if !n.Pod.Exists {
		return n.Pod.Trouble != nil
	}
	return !n.Pod.Ready && !n.Pod.UnreadySince.IsZero() && !now.Before(n.Pod.UnreadySince.Add(downAfter))
}

// unused reports whether the node's record permits to format its storage, and not because data on it was given up.
func unused(n *observation.Node) bool {
	return n.Recorded && !n.RecordBroken && n.Record.Format == record.FormatAllowed && !n.Record.Reformatted()
}

// held returns the number of partitions that have a replica on the broker; nil if it is not known now.
func held(v *observation.Snapshot, id int32) *int {
	partitions, known := observation.Known(v.SeenPartitions)
	if !known {
		return nil
	}
	return new(partitions.Replicas[id])
}

// everyBroker returns the ids of all nodes and registrations.
func everyBroker(v *observation.Snapshot) []int32 {
	var ids []int32
	for i := range v.Nodes {
		ids = append(ids, v.Nodes[i].ID)
	}
	if brokers, known := observation.Known(v.SeenBrokers); known {
		ids = append(ids, brokers.IDs()...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// controllersStay describes controllers that are not desired and are not removed; nil if there are none.
func controllersStay(v *observation.Snapshot) *transitions.Problem {
	var texts []string
	for _, w := range v.IDs.Warnings {
		if pool := v.Pool(w.Pool); w.Reason == nodeids.ReasonFrozen && pool != nil && int(pool.Spec.Replicas) < len(v.IDs.Of(w.Pool).Wanted) {
			texts = append(texts, w.Message)
		}
	}
	var pods []string
	for i := range v.Nodes {
		if n := &v.Nodes[i]; v.Pool(n.Pool) == nil && n.WasController() {
			pods = append(pods, n.PodName)
		}
	}
	if len(pods) > 0 {
		texts = append(texts, fmt.Sprintf("the KafkaNodePools of %s are gone, and the controllers of a static quorum cannot change: create the pools again with their node ids%s", roll.Names(pods), startOver(v)))
	}
	if len(texts) == 0 {
		return nil
	}
	return transitions.Problemf(nodeids.ReasonFrozen, "%s", strings.Join(texts, "; "))
}
