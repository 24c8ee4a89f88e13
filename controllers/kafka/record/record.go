// Package record is the persistent memory of one Kafka node outside of every status: what observation cannot restore once a pod,
// a StrimziPodSet or the resource itself has been deleted. It is stored in one ConfigMap per node, without an owner, so that it
// outlives the resource and the next resource of that name adopts it.
package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// Format is whether the storage of a node may be formatted.
type Format string

const (
	// FormatAllowed permits formatting: Kafka has not yet reported the node as registered with this storage.
	FormatAllowed Format = "allowed"
	// FormatDone forbids formatting: an empty disk means lost data.
	FormatDone Format = "done"
)

// Level is the record of one feature: the levels that a node's own metadata log may still hold.
type Level struct {
	// Highest finalized level that was observed since the node's last known snapshot.
	Highest int16 `json:"highest"`
	// Finalized is the last observed finalized level.
	Finalized int16 `json:"finalized"`
	// LoweredAt is when that level was first observed, if a previous one was higher; zero while the highest level is finalized.
	// Only a snapshot taken later holds no level above Finalized. Whole seconds.
	LoweredAt time.Time `json:"loweredAt,omitzero"`
}

// Record of one node.
type Record struct {
	// ID and Pool identify the node.
	ID   int32
	Pool string
	// Roles for which the node's storage and registration were created.
	Roles []kafkav1beta2.NodeRole
	// ClusterID is the id of the cluster to which the storage belongs.
	ClusterID string
	// Version of Kafka that was last started on the storage: its container was observed running. Empty before the first start.
	Version string
	// Format is whether the storage may be formatted.
	Format Format
	// Volumes are the ids of the persistent volumes that were observed in use. Any other empty volume is new, not lost.
	Volumes []int32
	// Replaced are the UIDs of the pod and the claims that a user asked to replace by empty ones. It is written before the first of
	// them is deleted, and withdrawn with the permission to format.
	Replaced []types.UID
	// Metadata is the metadata version to format with; empty means the default of the binary.
	Metadata string
	// Leaving is true if the node was chosen for removal.
	Leaving bool
	// Stop forbids the node to run as a broker: it was found empty, or a user accepted the risk. If it is Leaving too, its entry
	// may be missing, and its pod is removed.
	Stop bool
	// Draining is the number of partitions that the broker had when its drain began; 0 if it is not drained. While it is set, the
	// broker may be cordoned, and moves off it may be in progress.
	Draining int
	// Levels by feature.
	Levels map[string]Level
	// SnapshotInterval of the process that was last observed running; zero means no snapshots by time.
	SnapshotInterval time.Duration
	// Resource is the UID of the Kafka resource for which the record was last written.
	Resource types.UID
}

// DefaultSnapshotInterval is Kafka's default of metadata.log.max.snapshot.interval.ms. It is also assumed if the interval is
// unknown.
const DefaultSnapshotInterval = time.Hour

// Name returns the name of the ConfigMap with the record of a pod's node.
func Name(pod string) string { return pod + "-record" }

// Keys of the ConfigMap. The init container of a node reads those that determine whether and how to format.
const (
	KeyID               = "id"
	KeyPool             = "pool"
	KeyRoles            = "roles"
	KeyClusterID        = "cluster-id"
	KeyVersion          = "version"
	KeyFormat           = "format"
	KeyVolumes          = "volumes"
	KeyReplaced         = "replaced"
	KeyMetadata         = "metadata-version"
	KeyLeaving          = "leaving"
	KeyStop             = "stop"
	KeyDraining         = "draining"
	KeyResource         = "resource"
	KeyLevels           = "levels"
	KeySnapshotInterval = "snapshot-interval-ms"
)

// Started reports whether a process was ever observed running on the storage.
func (r *Record) Started() bool { return r.Version != "" }

// Reformatted reports whether the record permits formatting in place of storage that was in use: it was lost, and its formatting
// was approved, or a user asked to replace it.
func (r *Record) Reformatted() bool {
	return r.Format == FormatAllowed && (len(r.Volumes) > 0 || len(r.Replaced) > 0)
}

// Replacing reports whether the storage of the node is being replaced, and its formatting is not permitted yet.
func (r *Record) Replacing() bool { return r.Format == FormatDone && len(r.Replaced) > 0 }

// Has reports whether the node was created with the role.
func (r *Record) Has(role kafkav1beta2.NodeRole) bool { return slices.Contains(r.Roles, role) }

// Clone returns a deep copy.
func (r *Record) Clone() Record {
	c := *r
	c.Roles, c.Volumes, c.Levels = slices.Clone(r.Roles), slices.Clone(r.Volumes), maps.Clone(r.Levels)
	c.Replaced = slices.Clone(r.Replaced)
	return c
}

// Equal reports whether two records are equal.
func (r *Record) Equal(other *Record) bool {
	return r.ID == other.ID && r.Pool == other.Pool && slices.Equal(r.Roles, other.Roles) && r.ClusterID == other.ClusterID &&
		r.Version == other.Version && r.Format == other.Format && slices.Equal(r.Volumes, other.Volumes) &&
		slices.Equal(r.Replaced, other.Replaced) && r.Metadata == other.Metadata &&
		r.Leaving == other.Leaving && r.Stop == other.Stop && r.Draining == other.Draining && r.Resource == other.Resource && r.SnapshotInterval == other.SnapshotInterval &&
		maps.EqualFunc(r.Levels, other.Levels, func(a, b Level) bool {
			return a.Highest == b.Highest && a.Finalized == b.Finalized && a.LoweredAt.Equal(b.LoweredAt)
		})
}

// Encode encodes the record as the data of a ConfigMap. Equal records give equal data.
func (r *Record) Encode() map[string]string {
	roles := make([]string, len(r.Roles))
	for i, role := range r.Roles {
		roles[i] = string(role)
	}
	volumes := make([]string, len(r.Volumes))
	for i, id := range r.Volumes {
		volumes[i] = strconv.Itoa(int(id))
	}
	replaced := make([]string, len(r.Replaced))
	for i, uid := range r.Replaced {
		replaced[i] = string(uid)
	}
	data := map[string]string{
		KeyID: strconv.Itoa(int(r.ID)), KeyPool: r.Pool, KeyRoles: strings.Join(roles, " "), KeyClusterID: r.ClusterID,
		KeyVersion: r.Version, KeyFormat: string(r.Format), KeyVolumes: strings.Join(volumes, " "), KeyMetadata: r.Metadata,
		KeyLeaving: strconv.FormatBool(r.Leaving), KeyStop: strconv.FormatBool(r.Stop), KeyDraining: strconv.Itoa(r.Draining), KeyResource: string(r.Resource),
		KeyReplaced: strings.Join(replaced, " "), KeyLevels: "{}", KeySnapshotInterval: strconv.FormatInt(r.SnapshotInterval.Milliseconds(), 10),
	}
	if len(r.Levels) > 0 {
		levels, _ := json.Marshal(r.Levels) //nolint:errchkjson // a map of numbers and times with four-digit years always encodes
		data[KeyLevels] = string(levels)
	}
	return data
}

// Decode decodes what Encode encoded. It decodes as much as possible and returns an error that names every unreadable key, because
// a record that a user has edited is still the best source. An unreadable format forbids formatting.
func Decode(data map[string]string) (Record, error) {
	var r Record
	d := decoder{data: data}
	id := d.number(KeyID, -1, math.MaxInt32)
	r.ID, r.Pool, r.ClusterID, r.Version, r.Metadata = int32(id), data[KeyPool], data[KeyClusterID], data[KeyVersion], data[KeyMetadata]
	interval := d.number(KeySnapshotInterval, DefaultSnapshotInterval.Milliseconds(), math.MaxInt64/int64(time.Millisecond))
	r.SnapshotInterval = time.Duration(interval) * time.Millisecond
	r.Leaving, r.Stop, r.Resource = data[KeyLeaving] == "true", data[KeyStop] == "true", types.UID(data[KeyResource])
	r.Draining = int(d.number(KeyDraining, 0, math.MaxInt32))
	r.Format = Format(data[KeyFormat])
	if r.Format != FormatAllowed && r.Format != FormatDone {
		d.fail(KeyFormat, fmt.Errorf("%q is neither %s nor %s", r.Format, FormatAllowed, FormatDone))
		r.Format = FormatDone
	}
	for role := range strings.FieldsSeq(data[KeyRoles]) {
		r.Roles = append(r.Roles, kafkav1beta2.NodeRole(role))
	}
	for text := range strings.FieldsSeq(data[KeyVolumes]) {
		volume, err := parse(text, math.MaxInt32)
		if err != nil {
			d.fail(KeyVolumes, err)
			continue
		}
		r.Volumes = append(r.Volumes, int32(volume))
	}
	for uid := range strings.FieldsSeq(data[KeyReplaced]) {
		r.Replaced = append(r.Replaced, types.UID(uid))
	}
	if text := data[KeyLevels]; text != "" && text != "{}" {
		d.fail(KeyLevels, json.Unmarshal([]byte(text), &r.Levels))
		d.fail(KeyLevels, r.encodableTimes())
	}
	return r, errors.Join(d.failures...)
}

type decoder struct {
	data     map[string]string
	failures []error
}

func (d *decoder) fail(key string, err error) {
	if err != nil {
		d.failures = append(d.failures, fmt.Errorf("reading %s of a node's record: %w", key, err))
	}
}

// number returns the number of the key, from 0 to most. It returns otherwise if the value is missing or invalid. A missing value
// is an error only if otherwise is negative.
func (d *decoder) number(key string, otherwise, most int64) int64 {
	text := d.data[key]
	if text == "" && otherwise >= 0 {
		return otherwise
	}
	n, err := parse(text, most)
	if err != nil {
		d.fail(key, err)
		return otherwise
	}
	return n
}

// parse parses a number from 0 to most. It does not truncate: a truncated number would identify another node, volume or time.
func parse(text string, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && (n < 0 || n > most) {
		err = fmt.Errorf("%d is not from 0 to %d", n, most)
	}
	return n, err
}
