package kafka

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// remembered is what the record of a node is to hold after this pass: a pure function of the record there is and of what is
// seen. Where there is none, what is left of the node is adopted. A record that an earlier resource left stays that one's until it
// is known what became of its storage.
func remembered(kafka *kafkav1beta2.Kafka, v *View, n *Node, from heritage) record.Record {
	r := n.Record.Clone()
	earlier := n.Recorded && r.Resource != kafka.UID
	switch {
	case !n.Recorded:
		r = adopted(kafka, v, n)
	case earlier && from == gone:
		r = anew(n)
	}
	if !earlier || from != leaving {
		r.Resource = kafka.UID
	}
	r.Roles = n.Roles.list()
	r.ClusterID = cmp.Or(r.ClusterID, v.Identity.ID)
	if n.Pod.Running && n.Pod.Version != "" && n.Pod.Contradiction == "" {
		r.Version, r.SnapshotInterval = n.Pod.Version, n.Pod.SnapshotInterval
	}
	observeStorage(v, n, &r)
	if r.Format == record.FormatAllowed && n.Wanted {
		r.Metadata = formatMetadata(kafka, v)
	}
	if features, readable := known(v.Features); readable {
		r.ObserveLevels(features.Finalized, v.Now)
	}
	settleLevels(v, n, &r)
	return r
}

// adopted is the first record of a node of which something is left, or of a new one. Storage that exists may hold data, so
// that nothing of it is ever formatted.
func adopted(kafka *kafkav1beta2.Kafka, v *View, n *Node) record.Record {
	r := record.Record{
		ID: n.ID, Pool: n.Pool, Format: record.FormatAllowed, SnapshotInterval: record.DefaultSnapshotInterval, Levels: sharedLevels(v),
	}
	if !n.HasClaims && !n.Pod.Exists && !n.Entry.Exists {
		return r
	}
	r.Version = cmp.Or(n.Pod.Version, n.Entry.Version, statusVersion(kafka, v))
	if n.HasClaims {
		r.Format = record.FormatDone
		for _, claim := range v.Objects.Claims {
			if id, ok := render.ClaimVolume(claim.Name, n.PodName); ok {
				r.Volumes = append(r.Volumes, id)
			}
		}
		slices.Sort(r.Volumes)
	}
	return r
}

// statusVersion is the version in the status; empty where it is none.
func statusVersion(kafka *kafkav1beta2.Kafka, v *View) string {
	if _, err := v.Table.Find(kafka.Status.KafkaVersion); err != nil {
		return ""
	}
	return kafka.Status.KafkaVersion
}

// sharedLevels is what the log of a node that joins may hold: what the others' may.
func sharedLevels(v *View) map[string]record.Level {
	out := map[string]record.Level{}
	for i := range v.Nodes {
		for feature, level := range v.Nodes[i].Record.Levels {
			have := out[feature]
			if level.Highest > have.Highest || level.Highest == have.Highest && level.LoweredAt.After(have.LoweredAt) {
				out[feature] = level
			}
		}
	}
	return out
}

// observeStorage withdraws the permission to format once the node was seen registered with its storage, and notes the volumes
// that it uses.
func observeStorage(v *View, n *Node, r *record.Record) {
	pod := named(v.Objects.Pods, n.PodName)
	if pod == nil || !n.Pod.Running {
		return
	}
	mounted := persistentVolumes(pod)
	if len(mounted) == 0 {
		return
	}
	// The registration from before its storage was lost is still there: only a ready process shows that the node is back.
	again := reformatted(r)
	if r.Format == record.FormatAllowed && registered(v, n) && (!again || n.Pod.Ready) {
		r.Format = record.FormatDone
	}
	if r.Format == record.FormatDone && n.Pod.Ready {
		r.Volumes = mounted
	}
}

// reformatted says whether the record permits formatting storage that was in use before: it was lost, and that was approved.
func reformatted(r *record.Record) bool {
	return r.Format == record.FormatAllowed && len(r.Volumes) > 0
}

// persistentVolumes are the ids of the volumes with a claim that the pod has, in order.
func persistentVolumes(pod *corev1.Pod) []int32 {
	var ids []int32
	for i := range pod.Spec.Volumes {
		if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			if id, ok := render.ClaimVolume(c.ClaimName, pod.Name); ok {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// registered says whether Kafka knows the node: as a broker, or as a voter whose log holds something.
func registered(v *View, n *Node) bool {
	if brokers, readable := known(v.seenBrokers); readable && n.RolesRunning.Broker {
		if _, found := brokers.Find(n.ID); found {
			return true
		}
	}
	quorum, readable := known(v.seenQuorum)
	if !readable || !n.RolesRunning.Controller {
		return false
	}
	voter, votes := quorum.Voter(n.ID)
	return votes && voter.LogEndOffset > 0
}

// formatMetadata is the metadata version that new storage is formatted with: the one that is asked for, if the version that
// is asked for has it. Empty leaves it to the binary.
func formatMetadata(kafka *kafkav1beta2.Kafka, v *View) string {
	m, err := versions.ParseMetadata(kafka.Spec.Kafka.MetadataVersion)
	if err != nil {
		return ""
	}
	level, named := m.Level()
	version, err := v.Table.Find(wantedVersion(kafka, v))
	if err != nil || !named {
		return ""
	}
	if row, ok := version.Row(); ok {
		if runs, judged := row.Range(versions.FeatureMetadata); judged && !runs.Contains(level) {
			return ""
		}
	}
	return m.String()
}

// settleLevels forgets levels that were lowered, once the node's process has run in service for so long since that it has surely
// taken a snapshot without them: when the version change would not wait for it any more.
func settleLevels(v *View, n *Node, r *record.Record) {
	if !n.Pod.Ready || !n.Pod.Running || r.SnapshotInterval <= 0 {
		return
	}
	var lowered time.Time
	for _, l := range r.Levels {
		if l.LoweredAt.After(lowered) {
			lowered = l.LoweredAt
		}
	}
	if v.Now.After(kafkaversion.SnapshotDue(n.Pod.StartedAt, lowered, r.SnapshotInterval)) {
		r.SettleLevels()
	}
}

// AllowFormat permits formatting in the record of the node: its init container reads it at its next start. What the record knows of
// volumes stays, which tells this permission from that of a new node. The view must be live.
func (e *Effects) AllowFormat(ctx context.Context, kafka *kafkav1beta2.Kafka, view *View, write lifecycle.Writer, id int32) error {
	t := &tending{Effects: e, kafka: kafka, view: view, write: write}
	n := view.Node(id)
	if n == nil || !n.Recorded || n.recordBroken {
		return fmt.Errorf("permitting to format the storage of node %d: %w: its record cannot be read", id, lifecycle.ErrWait)
	}
	if view.Identity.Mismatch != "" {
		return fmt.Errorf("permitting to format the storage of %s: %w: %s", n.PodName, lifecycle.ErrWait, view.Identity.Mismatch)
	}
	r := n.Record.Clone()
	r.Format = record.FormatAllowed
	return t.writeRecord(ctx, n, &r)
}
