// Package recording derives the content of each node's record (package record) from an observation: what is adopted of an existing
// node, when the permission to format is withdrawn, which levels are remembered, and what becomes of the records of an earlier
// resource. It is pure.
package recording

import (
	"cmp"
	"slices"
	"time"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion"
)

// Next returns the content of a node's record after this reconcile. It is a pure function of the existing record and the
// observation. Without a record, it adopts what is left of the node. A record of an earlier resource remains that resource's until
// it is known what happened to its storage.
func Next(kafka *kafkav1beta2.Kafka, v *observation.Snapshot, n *observation.Node, from Adoption) record.Record {
	r := n.Record // its lists and maps are replaced and never changed
	earlier := n.Recorded && r.Resource != kafka.UID
	switch {
	case !n.Recorded:
		r = First(kafka, v, n)
	case earlier && from == StartOver:
		r = newRecord(n)
	}
	if !earlier || from != Wait {
		r.Resource = kafka.UID
	}
	if !r.Stop && !n.Roles.Listed(r.Roles) { // a stopped broker may still be registered
		r.Roles = n.Roles.List()
	}
	r.Leaving = !n.Wanted && (r.Leaving || chosen(kafka, v, n))
	r.ClusterID = cmp.Or(r.ClusterID, v.Identity.ID)
	if n.Pod.Running && n.Pod.Version != "" && n.Pod.Contradiction == nil {
		r.Version, r.SnapshotInterval = n.Pod.Version, n.Pod.SnapshotInterval
	}
	observeStorage(v, n, &r)
	// Without the permission only a volume that is added is formatted, for which the level of the cluster's first storage means nothing: a
	// binary after a downgrade may not know it.
	r.Metadata = ""
	if r.Format == record.FormatAllowed {
		r.Metadata = FormatMetadata(kafka, v, n)
	}
	if features, readable := observation.Known(v.Features); readable {
		r.ObserveLevels(features.Finalized, v.Now)
	}
	settleLevels(v, n, &r)
	return r
}

// Levels returns the levels that the log of a node may hold by what is observed now, and whether its record contains them. It does not if its
// write is due or was refused.
func Levels(v *observation.Snapshot, n *observation.Node) (levels map[string]record.Level, recorded bool) {
	r := n.Record // its map is replaced and never changed
	changed := false
	if features, readable := observation.Known(v.Features); readable {
		changed = r.ObserveLevels(features.Finalized, v.Now)
	}
	return r.Levels, n.Recorded && !n.RecordBroken && !changed
}

// chosen reports whether a node that is not desired is chosen for removal: its id is in the status of its pool, so that a status
// that was wiped removes nothing, or its pool was deleted or moved to another cluster. A controller is never chosen, because a static
// quorum cannot change.
func chosen(kafka *kafkav1beta2.Kafka, v *observation.Snapshot, n *observation.Node) bool {
	if v.IDs.Refusal != nil || v.Identity.Mismatch != nil || n.WasController() {
		return false
	}
	if pool := v.Pool(n.Pool); pool != nil {
		ids, _ := observation.OfPoolStatus(kafka, pool)
		return slices.Contains(ids, n.ID)
	}
	return !AwaitsPool(kafka, v, n)
}

// AwaitsPool reports whether a node without a pool is not chosen or forgotten yet, because its pool may be created soon.
func AwaitsPool(kafka *kafkav1beta2.Kafka, v *observation.Snapshot, n *observation.Node) bool {
	return v.Pool(n.Pool) == nil && (!n.WasController() || v.Unused(n)) && v.Now.Before(kafka.CreationTimestamp.Add(observation.PoolsGrace))
}

// First returns the first record of a new node, or of an existing node without a record. Existing storage may hold data and is
// therefore never formatted.
func First(kafka *kafkav1beta2.Kafka, v *observation.Snapshot, n *observation.Node) record.Record {
	r := record.Record{
		ID: n.ID, Pool: n.Pool, Format: record.FormatAllowed, SnapshotInterval: record.DefaultSnapshotInterval, Levels: sharedLevels(v),
	}
	if !n.HasClaims && !n.Pod.Exists && !n.Entry.Exists {
		return r
	}
	r.Version = cmp.Or(n.Pod.Version, n.Entry.Version, statusVersion(kafka, v))
	if r.Volumes = persistentVolumes(v, n); len(r.Volumes) > 0 {
		r.Format = record.FormatDone
	}
	return r
}

// persistentVolumes returns the ids of the persistent volumes that an existing node may have data on: those with a claim, which may be
// terminating, and those of its pod and of its entry, whose claims may be gone.
func persistentVolumes(v *observation.Snapshot, n *observation.Node) []int32 {
	volumes := slices.Clone(n.Entry.Volumes)
	if pod := observation.Named(v.Objects.Pods, n.PodName); pod != nil {
		volumes = append(volumes, observation.PersistentVolumes(pod)...)
	}
	for _, claim := range v.Objects.Claims {
		if id, ok := render.ClaimVolume(claim.Name, n.PodName); ok {
			volumes = append(volumes, id)
		}
	}
	slices.Sort(volumes)
	return slices.Compact(volumes)
}

// statusVersion returns the version in the status; empty if it is no valid version.
func statusVersion(kafka *kafkav1beta2.Kafka, v *observation.Snapshot) string {
	if _, err := v.Table.Find(kafka.Status.KafkaVersion); err != nil {
		return ""
	}
	return kafka.Status.KafkaVersion
}

// sharedLevels returns the levels that the log of a new node may hold: those of the other nodes.
func sharedLevels(v *observation.Snapshot) map[string]record.Level {
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

// observeStorage withdraws the permission to format once Kafka reports the node as registered, and records the volumes that the
// node uses.
func observeStorage(v *observation.Snapshot, n *observation.Node, r *record.Record) {
	pod := observation.Named(v.Objects.Pods, n.PodName)
	if pod == nil || !n.Pod.Running {
		return
	}
	mounted := observation.PersistentVolumes(pod)
	if len(mounted) == 0 {
		return
	}
	// The registration from before the loss of the storage still exists: only a ready process shows that the node is back.
	again := r.Reformatted()
	if r.Format == record.FormatAllowed && registered(v, n) && (!again || n.Pod.Ready) {
		r.Format, r.Replaced = record.FormatDone, nil
	}
	if r.Replacing() && n.Pod.Ready && registered(v, n) && v.Replaced(n) == (observation.Left{}) {
		r.Replaced = nil // it runs on claims that another client has created
	}
	if r.Format == record.FormatDone && n.Pod.Ready && !r.Replacing() {
		r.Volumes = mounted
	}
}

// registered reports whether Kafka knows the node: as a broker, or as a voter with a non-empty log.
func registered(v *observation.Snapshot, n *observation.Node) bool {
	if brokers, readable := observation.Known(v.SeenBrokers); readable && n.RolesRunning.Broker {
		if _, found := brokers.Find(n.ID); found {
			return true
		}
	}
	quorum, readable := observation.Known(v.SeenQuorum)
	if !readable || !n.RolesRunning.Controller {
		return false
	}
	voter, votes := quorum.Voter(n.ID)
	return votes && voter.LogEndOffset > 0
}

// FormatMetadata returns the metadata version with which new storage of the node is formatted: the one of the cluster, or in a new cluster
// the one of the spec, if the desired version supports it; the lower of both, if the level is to be lowered and the binary supports that. The
// version on which the node starts must support it, too. Empty means the default of the binary, which it always knows.
//
// Kafka never writes this level again, and 3.9 does not start with one that it does not know, whatever the level of the cluster is: storage
// that a newer binary formats before the level is raised must not keep an older one from running.
func FormatMetadata(kafka *kafkav1beta2.Kafka, v *observation.Snapshot, n *observation.Node) string {
	wanted := observation.WantedVersion(kafka, v)
	starts := startsOn(v, n, wanted)
	m := finalizedMetadata(kafka, v)
	level, named := m.Level()
	pinned, _ := versions.ParseMetadata(kafka.Spec.Kafka.MetadataVersion)
	switch lower, valid := pinned.Level(); {
	case valid && named && lower < level:
		if supports, _ := supportsLevel(v, starts, lower); supports {
			return pinned.String()
		}
	case valid && !named:
		if supports, judged := supportsLevel(v, wanted, lower); judged && !supports {
			return ""
		}
		m, level, named = pinned, lower, true
	}
	if supports, _ := supportsLevel(v, starts, level); !named || !supports {
		return ""
	}
	return m.String()
}

// finalizedMetadata returns the metadata version of a cluster that runs or ran; zero if none is known.
func finalizedMetadata(kafka *kafkav1beta2.Kafka, v *observation.Snapshot) versions.Metadata {
	name := kafka.Status.KafkaMetadataVersion
	if features, known := observation.Known(v.Features); known {
		if finalized, named := versions.MetadataName(features.Level(versions.FeatureMetadata)); named {
			name = finalized
		}
	}
	m, err := versions.ParseMetadata(name)
	if err != nil {
		return versions.Metadata{}
	}
	return m
}

// startsOn returns the version on which the next pod of the node starts: that of its entry, else the one that it runs or ran, else for a
// new node the oldest one of the cluster, and in a new cluster the desired one. A version change reaches it later.
func startsOn(v *observation.Snapshot, n *observation.Node, wanted string) string {
	return cmp.Or(n.Entry.Version, n.Version(), observation.OldestVersion(v), wanted)
}

// supportsLevel reports whether a version supports a level of metadata.version, and whether the table of versions says so.
func supportsLevel(v *observation.Snapshot, text string, level int16) (supports, judged bool) {
	version, err := v.Table.Find(text)
	if err != nil {
		return false, true
	}
	row, listed := version.Row()
	if !listed {
		return false, false
	}
	runs, judged := row.Range(versions.FeatureMetadata)
	return judged && runs.Contains(level), judged
}

// settleLevels removes lowered levels once the node's process has certainly taken a snapshot without them: when the version change
// would not wait for it any more.
func settleLevels(v *observation.Snapshot, n *observation.Node, r *record.Record) {
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

// HasLeftovers reports whether something of a node exists from which its record can be created. A pod with an unknown or contradicted
// version is not sufficient: a user has to set its version.
func HasLeftovers(n *observation.Node) bool {
	if n.Pod.Exists {
		return n.Pod.Version != "" && n.Pod.Contradiction == nil
	}
	return n.Entry.Exists || n.HasClaims
}

// Adoptable reports whether the record of a node can be created from what is left of it. For storage alone the version comes from
// the status. While that version is invalid, the version change refuses and names it, and no record is created that would mark the
// storage as unused.
func Adoptable(kafka *kafkav1beta2.Kafka, v *observation.Snapshot, n *observation.Node) bool {
	storageAlone := !n.Pod.Exists && n.Entry.Version == ""
	return HasLeftovers(n) && !(storageAlone && kafka.Status.KafkaVersion != "" && statusVersion(kafka, v) == "")
}
