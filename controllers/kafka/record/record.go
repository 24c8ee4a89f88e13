// Package record is the memory that a node of a Kafka cluster has outside of every status: what observation cannot give back
// once a pod, a StrimziPodSet or the resource itself is gone. Its home is one ConfigMap per node, without an owner, so that
// it outlives the resource and is adopted by the next one of that name.
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

// Format says whether the storage of a node may be formatted.
type Format string

const (
	// FormatAllowed permits formatting: the node has not been seen registered with this storage.
	FormatAllowed Format = "allowed"
	// FormatDone forbids it: an empty disk is a lost one.
	FormatDone Format = "done"
)

// Level is what is remembered of one feature of the cluster, as a node's own metadata log may still hold it.
type Level struct {
	// Highest level seen finalized since the node's last snapshot that is known of.
	Highest int16 `json:"highest"`
	// Finalized is the level that was last seen finalized.
	Finalized int16 `json:"finalized"`
	// LoweredAt is when that level was first seen, if one before it was higher; zero while the highest one is finalized.
	// Only a snapshot taken later holds nothing higher than Finalized. Whole seconds.
	LoweredAt time.Time `json:"loweredAt,omitzero"`
}

// Record of one node.
type Record struct {
	// ID and Pool say which node it is.
	ID   int32
	Pool string
	// Roles that the node's storage and registration were made for.
	Roles []kafkav1beta2.NodeRole
	// ClusterID that the storage belongs to.
	ClusterID string
	// Version of Kafka that was last started on the storage: its container was seen running. Empty before the first start.
	Version string
	// Format says whether the storage may be formatted.
	Format Format
	// Volumes are the ids of the persistent volumes that were seen in use; another one that is empty is new, not lost.
	Volumes []int32
	// Metadata version to format with; empty leaves it to the binary.
	Metadata string
	// Leaving says that the node was chosen to go.
	Leaving bool
	// Stop says that its pod may go: it was found empty, or a person took the risk. Only then may its entry be missing.
	Stop bool
	// Levels by feature.
	Levels map[string]Level
	// SnapshotInterval that the process last seen running was started with; zero takes no snapshots by time.
	SnapshotInterval time.Duration
	// Resource is the UID of the Kafka resource that the record was last kept for.
	Resource types.UID
}

// DefaultSnapshotInterval is Kafka's own metadata.log.max.snapshot.interval.ms, and what is taken where nothing is known.
const DefaultSnapshotInterval = time.Hour

// Name of the ConfigMap that holds the record of a pod's node.
func Name(pod string) string { return pod + "-record" }

// Keys of the ConfigMap. The init container of a node reads those that say whether and how to format.
const (
	KeyID               = "id"
	KeyPool             = "pool"
	KeyRoles            = "roles"
	KeyClusterID        = "cluster-id"
	KeyVersion          = "version"
	KeyFormat           = "format"
	KeyVolumes          = "volumes"
	KeyMetadata         = "metadata-version"
	KeyLeaving          = "leaving"
	KeyStop             = "stop"
	KeyResource         = "resource"
	KeyLevels           = "levels"
	KeySnapshotInterval = "snapshot-interval-ms"
)

// Started says whether a process was ever seen running on the storage.
func (r *Record) Started() bool { return r.Version != "" }

// Has says whether the node was made for the role.
func (r *Record) Has(role kafkav1beta2.NodeRole) bool { return slices.Contains(r.Roles, role) }

// Clone shares nothing with r.
func (r *Record) Clone() Record {
	c := *r
	c.Roles, c.Volumes, c.Levels = slices.Clone(r.Roles), slices.Clone(r.Volumes), maps.Clone(r.Levels)
	return c
}

// Equal says whether both remember the same.
func (r *Record) Equal(other *Record) bool {
	return r.ID == other.ID && r.Pool == other.Pool && slices.Equal(r.Roles, other.Roles) && r.ClusterID == other.ClusterID &&
		r.Version == other.Version && r.Format == other.Format && slices.Equal(r.Volumes, other.Volumes) && r.Metadata == other.Metadata &&
		r.Leaving == other.Leaving && r.Stop == other.Stop && r.Resource == other.Resource && r.SnapshotInterval == other.SnapshotInterval &&
		maps.EqualFunc(r.Levels, other.Levels, func(a, b Level) bool {
			return a.Highest == b.Highest && a.Finalized == b.Finalized && a.LoweredAt.Equal(b.LoweredAt)
		})
}

// Encode writes the record as the data of a ConfigMap. Equal records give equal data.
func (r *Record) Encode() map[string]string {
	roles := make([]string, len(r.Roles))
	for i, role := range r.Roles {
		roles[i] = string(role)
	}
	volumes := make([]string, len(r.Volumes))
	for i, id := range r.Volumes {
		volumes[i] = strconv.Itoa(int(id))
	}
	data := map[string]string{
		KeyID: strconv.Itoa(int(r.ID)), KeyPool: r.Pool, KeyRoles: strings.Join(roles, " "), KeyClusterID: r.ClusterID,
		KeyVersion: r.Version, KeyFormat: string(r.Format), KeyVolumes: strings.Join(volumes, " "), KeyMetadata: r.Metadata,
		KeyLeaving: strconv.FormatBool(r.Leaving), KeyStop: strconv.FormatBool(r.Stop), KeyResource: string(r.Resource),
		KeyLevels: "{}", KeySnapshotInterval: strconv.FormatInt(r.SnapshotInterval.Milliseconds(), 10),
	}
	if len(r.Levels) > 0 {
		levels, _ := json.Marshal(r.Levels) //nolint:errchkjson // a map of numbers and times in years of four digits always encodes
		data[KeyLevels] = string(levels)
	}
	return data
}

// Decode reads what Encode wrote. It reads all it can and names every key that it cannot read, since a record that a person
// has edited is still the best memory there is. A format that cannot be read forbids formatting.
func Decode(data map[string]string) (Record, error) {
	var r Record
	d := decoder{data: data}
	id := d.number(KeyID, -1, math.MaxInt32)
	r.ID, r.Pool, r.ClusterID, r.Version, r.Metadata = int32(id), data[KeyPool], data[KeyClusterID], data[KeyVersion], data[KeyMetadata]
	interval := d.number(KeySnapshotInterval, DefaultSnapshotInterval.Milliseconds(), math.MaxInt64/int64(time.Millisecond))
	r.SnapshotInterval = time.Duration(interval) * time.Millisecond
	r.Leaving, r.Stop, r.Resource = data[KeyLeaving] == "true", data[KeyStop] == "true", types.UID(data[KeyResource])
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
	if text := data[KeyLevels]; text != "" && text != "{}" {
		d.fail(KeyLevels, json.Unmarshal([]byte(text), &r.Levels))
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

// number of the key, from 0 to most, or otherwise where it is missing or no such number. A missing one fails only if there is
// no good otherwise.
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

// parse reads a number from 0 to most: one that is cut to fewer bits would name another node, volume or time.
func parse(text string, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && (n < 0 || n > most) {
		err = fmt.Errorf("%d is not from 0 to %d", n, most)
	}
	return n, err
}
