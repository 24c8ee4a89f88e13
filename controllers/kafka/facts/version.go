// Package facts takes the facts of each lifecycle of a Kafka resource from an observation of the cluster: a function per machine
// (Version, NodeRoll, NodeStorage) and what they share (Roll, the validity of the spec). It is pure.
package facts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/recording"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/runtime/external"
)

// What a user approves with labels.Approve.
const (
	approveRaise  = "raise-metadata="
	approveFormat = "format-storage="
)

// refusalPause is the delay before a refused change of the metadata level is requested again.
const refusalPause = time.Minute

// Version returns the facts of the version change.
func Version(k *kafkav1beta2.Kafka, v *observation.Snapshot, ask machines.ObserveOptions) kafkaversion.Facts {
	f := kafkaversion.Facts{
		Situation: Situation(k, v), SpecError: SpecError(k, v), Incomplete: incomplete(k, v), Finalize: finalize(k, v),
		Attempt: ask.Attempt, EnteredAt: ask.EnteredAt, Pause: cmp.Or(v.Options.RefusalPause, refusalPause),
		Answer: answer(v.Answer(observation.LifecycleVersion)), InFlight: inFlight(v.InFlight),
	}
	if f.Answer.Text == "" && ask.RequestID.State == kafkaversion.MetadataRefused {
		f.Answer.Text = lastRefusal(k)
	}
	if ask.Wants(kafkaversion.NeedFeatures) {
		f.Features = v.Features
	}
	wanted := observation.WantedVersion(k, v)
	f.Roll = Roll(k, v, func(n *observation.Node) bool {
		return n.Version() != "" && n.Version() != wanted && v.Pool(n.Pool) != nil && !n.Stopped()
	})
	hold(v, &f.Roll)
	if slices.ContainsFunc(f.Roll.Nodes, func(n roll.Node) bool { return n.Outdated }) {
		f.SpecError, f.Incomplete = startError(k, v), cmp.Or(f.Incomplete, observation.Unjudged(k, v))
	}
	for i := range f.Roll.Nodes {
		n := &f.Roll.Nodes[i]
		n.Stale = !n.Outdated && v.Outdated(v.Node(n.ID))
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		switch {
		case n.Wanted && n.RolesWanted.Broker:
			f.Wanted = append(f.Wanted, n.ID)
		case v.RunsAsBroker(n):
			f.Leaving = append(f.Leaving, n.ID)
		}
		levels, recorded := recording.Levels(v, n)
		if d, remembered := disk(n, levels); remembered {
			f.Disks = append(f.Disks, d)
		}
		if !recorded && n.WasController() && (n.Recorded || n.Pod.Exists) {
			f.Unrecorded = append(f.Unrecorded, n.PodName)
		}
	}
	return f
}

// lastRefusal returns Kafka's refusal as the status shows it: the answer itself belonged to the previous state. It is only
// displayed; no decision uses it.
func lastRefusal(k *kafkav1beta2.Kafka) string {
	text, _, _ := strings.Cut(firstObserved(k, observation.LifecycleVersion), kafkaversion.Remedy)
	return text
}

// firstObserved returns the first thing that a lifecycle waits for, as the status shows it.
func firstObserved(k *kafkav1beta2.Kafka, lifecycle string) string {
	for i := range k.Status.Lifecycles {
		if e := &k.Status.Lifecycles[i]; e.Name == lifecycle && len(e.WaitingFor) > 0 {
			return e.WaitingFor[0].Observed
		}
	}
	return ""
}

// Situation returns what the version change is decided on, without the levels that Kafka reports.
func Situation(k *kafkav1beta2.Kafka, v *observation.Snapshot) decision.Situation {
	s := decision.Situation{
		WantedVersion: observation.WantedVersion(k, v), WantedMetadata: k.Spec.Kafka.MetadataVersion, Table: v.Table,
		RecordedVersion: k.Status.KafkaVersion, RecordedMetadata: k.Status.KafkaMetadataVersion,
		Nodes: make([]decision.NodeVersions, 0, len(v.Nodes)),
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Pod.Exists && !n.Recorded && !recording.HasLeftovers(n) {
			continue
		}
		started, known := n.Record.Version, n.Recorded
		if !n.Recorded && !n.Pod.Exists {
			started, known = recording.First(k, v, n).Version, true // storage whose record is about to be created
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

func finalize(k *kafkav1beta2.Kafka, v *observation.Snapshot) kafkaversion.Finalize {
	f := kafkaversion.Finalize{ByApproval: v.Options.Finalizing == observation.FinalizeByApproval}
	f.Soak, f.SoakProblem = SoakTime(k)
	if approved, ok := strings.CutPrefix(k.Annotations[labels.Approve], approveRaise); ok {
		f.Approved = approved
	}
	return f
}

// disk returns what is known of the metadata log of a node. levels are those that it may hold.
func disk(n *observation.Node, levels map[string]record.Level) (kafkaversion.Disk, bool) {
	d := kafkaversion.Disk{Node: n.ID, Interval: n.Record.SnapshotInterval}
	if n.Pod.Exists {
		d.Interval = n.Pod.SnapshotInterval // 0 means that it takes no snapshots by time
	}
	for feature, level := range levels {
		if level.Highest <= level.Finalized {
			continue // finalized levels are compared by the decision
		}
		if d.Highest == nil {
			d.Highest, d.LoweredAt = map[string]int16{}, map[string]time.Time{}
		}
		d.Highest[feature] = level.Highest
		d.LoweredAt[feature] = level.LoweredAt
	}
	return d, len(d.Highest) > 0
}

func answer(a external.Answer) kafkaversion.Answer {
	out := kafkaversion.Answer{Text: AnswerText(a)}
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

// AnswerText returns the words of an answer for users.
func AnswerText(a external.Answer) string {
	if a.Name == "" {
		return a.Text
	}
	return a.Name + ": " + a.Text
}

// VersionOfNewNodes returns the version on which a new node starts: the oldest running version, from which the version change
// upgrades it. In a new cluster, or one of which only the status is left, it is the desired version once the version change
// permits it. It is empty if it is not known yet, while the spec is invalid, and while Kafka is asked about a value of it.
func VersionOfNewNodes(k *kafkav1beta2.Kafka, v *observation.Snapshot) string {
	if cmp.Or(startError(k, v), incomplete(k, v), observation.Unjudged(k, v)) != nil {
		return ""
	}
	if slices.ContainsFunc(v.Nodes, func(n observation.Node) bool { return n.Pod.Exists && n.Pod.Version != "" }) {
		return observation.OldestVersion(v) // it is no installation
	}
	d := decision.Decide(Situation(k, v))
	if d.Direction != decision.DirectionInstall {
		if oldest := observation.OldestVersion(v); oldest != "" {
			return oldest
		}
	}
	for i := range k.Status.Lifecycles {
		if e := &k.Status.Lifecycles[i]; e.Name == observation.LifecycleVersion && e.State == roll.AwaitingReady {
			return d.To.String()
		}
	}
	return ""
}

func inFlight(f external.InFlight) kafkaversion.InFlight {
	return kafkaversion.InFlight{Until: f.Until, Sent: f.Sent}
}
