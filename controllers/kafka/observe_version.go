package kafka

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// Annotations by which a user controls the version change.
const (
	// AnnotationSoak is how long the new binaries run before the metadata level is raised: a duration such as 36h, or days such as
	// 7d.
	AnnotationSoak = "detent.dev/soak"
	// AnnotationApprove permits one transition of one attempt: raise-metadata=<attempt id>/<level> or
	// format-storage=<attempt id>/<pod>. The status of the wait shows the value.
	AnnotationApprove = "detent.dev/approve"

	approveRaise  = "raise-metadata="
	approveFormat = "format-storage="
)

// refusalPause is the delay before a refused change of the metadata level is requested again.
const refusalPause = time.Minute

// observeVersion returns the facts of the version change.
func observeVersion(k *kafkav1beta2.Kafka, v *observation.Snapshot, ask machines.ObserveOptions) kafkaversion.Facts {
	f := kafkaversion.Facts{
		Situation: situation(k, v), SpecError: specError(k, v), Incomplete: incomplete(k, v), Finalize: finalize(k, v),
		Attempt: ask.Attempt, EnteredAt: ask.EnteredAt, Pause: cmp.Or(v.Options.RefusalPause, refusalPause),
		Answer: answer(v.Answer(observation.LifecycleVersion)), InFlight: kafkaversion.InFlight(v.InFlight),
	}
	if f.Answer.Text == "" && ask.RequestID.State == kafkaversion.MetadataRefused {
		f.Answer.Text = lastRefusal(k)
	}
	if ask.Wants(kafkaversion.NeedFeatures) {
		f.Features = v.Features
	}
	wanted := observation.WantedVersion(k, v)
	f.Roll = rollFacts(k, v, func(n *observation.Node) bool { return n.Version() != "" && n.Version() != wanted })
	for i := range f.Roll.Nodes {
		n := &f.Roll.Nodes[i]
		n.Stale = !n.Outdated && v.Outdated(v.Node(n.ID))
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		switch {
		case n.Wanted && n.RolesWanted.Broker:
			f.Wanted = append(f.Wanted, n.ID)
		case n.Pod.Exists:
			f.Leaving = append(f.Leaving, n.ID)
		}
		if d, remembered := disk(n); remembered {
			f.Disks = append(f.Disks, d)
		}
	}
	return f
}

// lastRefusal returns Kafka's refusal as the status shows it: the answer itself belonged to the previous state. It is only
// displayed; no decision uses it.
func lastRefusal(k *kafkav1beta2.Kafka) string {
	for i := range k.Status.Lifecycles {
		if e := &k.Status.Lifecycles[i]; e.Name == observation.LifecycleVersion {
			for _, w := range e.WaitingFor {
				text, _, _ := strings.Cut(w.Observed, kafkaversion.Remedy)
				return text
			}
		}
	}
	return ""
}

func situation(k *kafkav1beta2.Kafka, v *observation.Snapshot) decision.Situation {
	s := decision.Situation{
		WantedVersion: observation.WantedVersion(k, v), WantedMetadata: k.Spec.Kafka.MetadataVersion, Table: v.Table,
		RecordedVersion: k.Status.KafkaVersion, RecordedMetadata: k.Status.KafkaMetadataVersion,
		Nodes: make([]decision.NodeVersions, 0, len(v.Nodes)),
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Pod.Exists && !n.Recorded && !leftovers(n) {
			continue
		}
		started, known := n.Record.Version, n.Recorded
		if !n.Recorded && !n.Pod.Exists {
			started, known = adopted(k, v, n).Version, true // storage whose record is about to be created
		}
		s.Nodes = append(s.Nodes, decision.NodeVersions{
			ID: n.ID, Name: n.PodName, HasPod: n.Pod.Exists, Runs: runs(n), LastStarted: started, NeverStarted: known && started == "",
			Contradiction: n.Pod.Contradiction, Unproven: n.Unproven(),
		})
	}
	return s
}

// runs returns the version of the node's pod. For a pod to adopt with an invalid annotation it returns the annotation, so that the
// refusal quotes it.
func runs(n *observation.Node) string {
	if n.Pod.Version == "" && n.Pod.Contradiction == nil {
		return n.Pod.Annotated
	}
	return n.Pod.Version
}

// poolsGrace is how long after its creation a Kafka may lack the pools that it needs: tools that apply a directory or a release
// create a Kafka before its KafkaNodePools.
const poolsGrace = 30 * time.Second

// specError describes why the spec as a whole cannot be applied; nil if it can. Nothing is changed while there is a spec error.
func specError(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	if wrong := contradiction(k, v); wrong != nil {
		return wrong
	}
	lack := lacking(v)
	if lack == nil || v.Now.Before(graceEnd(k, v)) {
		return nil
	}
	return lack
}

// incomplete describes what the spec of a young cluster lacks and may be created soon, and the end of the wait for it.
func incomplete(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	lack, end := lacking(v), graceEnd(k, v)
	if lack == nil || !v.Now.Before(end) || contradiction(k, v) != nil {
		return nil
	}
	return transitions.Problemf(lack.Reason, "%s. This is waited for until %s", lack.Message, end.UTC().Format(time.RFC3339))
}

// graceEnd is when a missing pool becomes an error: immediately for a cluster that has run.
func graceEnd(k *kafkav1beta2.Kafka, v *observation.Snapshot) time.Time {
	ran := k.Status.KafkaVersion != "" || slices.ContainsFunc(v.Nodes, func(n observation.Node) bool { return n.Pod.Exists })
	if ran {
		return k.CreationTimestamp.Time
	}
	return k.CreationTimestamp.Add(poolsGrace)
}

// contradiction describes errors that the creation of further objects cannot resolve.
func contradiction(k *kafkav1beta2.Kafka, v *observation.Snapshot) *transitions.Problem {
	return cmp.Or(observation.Foreign(v), v.Identity.Mismatch, v.IDs.Refusal, unguarded(&k.Spec.Kafka), observation.MisplacedDisks(v), orphans(v))
}

// lacking describes the required pools or roles of pools that do not exist.
func lacking(v *observation.Snapshot) *transitions.Problem {
	if len(v.Objects.Pools) == 0 {
		return transitions.Problemf("PoolsMissing", "no KafkaNodePool carries the label strimzi.io/cluster with this cluster's name: create at least one with the role controller and one with the role broker")
	}
	return missingRole(v)
}

// unguarded lists the requested access controls, which are not implemented. Listeners that are not served admit no clients.
func unguarded(spec *kafkav1beta2.KafkaClusterSpec) *transitions.Problem {
	var asked []string
	if spec.Authorization != nil {
		asked = append(asked, "spec.kafka.authorization")
	}
	for i := range spec.Listeners {
		if l := &spec.Listeners[i]; l.Authentication != nil && render.Served(l) {
			asked = append(asked, fmt.Sprintf("spec.kafka.listeners[%s].authentication", l.Name))
		}
	}
	if len(asked) == 0 {
		return nil
	}
	return transitions.Problemf("AccessControlNotSupported", "not supported, so that whoever reaches the cluster could do everything: %s"+
		". Remove it to run the cluster open. Running nodes are not changed", strings.Join(asked, ", "))
}

func missingRole(v *observation.Snapshot) *transitions.Problem {
	var have observation.Roles
	for _, pool := range v.Objects.Pools {
		if pool.Spec.Replicas > 0 {
			roles := observation.RolesOf(pool.Spec.Roles)
			have.Broker, have.Controller = have.Broker || roles.Broker, have.Controller || roles.Controller
		}
	}
	switch {
	case !have.Controller:
		return transitions.Problemf("ControllersMissing", "no KafkaNodePool with replicas has the role controller: add it to a pool, or create one")
	case !have.Broker:
		return transitions.Problemf("BrokersMissing", "no KafkaNodePool with replicas has the role broker: add it to a pool, or create one")
	}
	return nil
}

func finalize(k *kafkav1beta2.Kafka, v *observation.Snapshot) kafkaversion.Finalize {
	f := kafkaversion.Finalize{ByApproval: v.Options.Finalizing == observation.FinalizeByApproval}
	f.Soak, f.SoakProblem = soakTime(k)
	if approved, ok := strings.CutPrefix(k.Annotations[AnnotationApprove], approveRaise); ok {
		f.Approved = approved
	}
	return f
}

func disk(n *observation.Node) (kafkaversion.Disk, bool) {
	if len(n.Record.Levels) == 0 {
		return kafkaversion.Disk{}, false
	}
	d := kafkaversion.Disk{
		Node: n.ID, Interval: n.Record.SnapshotInterval,
		Highest: make(map[string]int16, len(n.Record.Levels)), LoweredAt: map[string]time.Time{},
	}
	if n.Pod.Exists {
		d.Interval = n.Pod.SnapshotInterval // 0 means that it takes no snapshots by time
	}
	for feature, level := range n.Record.Levels {
		if level.Highest <= level.Finalized {
			continue // finalized levels are compared by the decision
		}
		d.Highest[feature] = level.Highest
		d.LoweredAt[feature] = level.LoweredAt
	}
	return d, len(d.Highest) > 0
}

func answer(a external.Answer) kafkaversion.Answer {
	out := kafkaversion.Answer{Text: a.Text}
	if a.Name != "" {
		out.Text = a.Name + ": " + a.Text
	}
	switch a.State {
	case external.None:
	case external.Pending:
		out.Status = kafkaversion.Asked
	case external.Done:
		out.Status = kafkaversion.Done
	case external.Refused:
		out.Status = kafkaversion.Refused
	case external.Failed, external.Unknown:
		out.Status = kafkaversion.Unknown
	}
	return out
}
