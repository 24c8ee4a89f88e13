package versions

import "strconv"

// The features that Kafka finalizes for a whole cluster (KIP-584, KIP-1022), by the names
// that Kafka reports.
const (
	FeatureMetadata               = "metadata.version"
	FeatureKRaft                  = "kraft.version"
	FeatureTransaction            = "transaction.version"
	FeatureGroup                  = "group.version"
	FeatureEligibleLeaderReplicas = "eligible.leader.replicas.version"
	FeatureShare                  = "share.version"
	FeatureStreams                = "streams.version"
)

// Range is the levels of one feature that a binary can run, both ends included. A node
// exits at start if a finalized level is outside the range of its binary.
type Range struct {
	Min, Max int16
}

// Contains reports whether a binary with this range can run at the level.
func (r Range) Contains(level int16) bool { return r.Min <= level && level <= r.Max }

// Within reports whether every level of this range is in the other range.
func (r Range) Within(other Range) bool { return other.Min <= r.Min && r.Max <= other.Max }

// FeatureLevelName formats a level for users: "4.1-IV1 (level 27)" for metadata.version,
// "level 1" for any other feature and for a metadata level without a name in this package.
func FeatureLevelName(feature string, level int16) string {
	number := "level " + strconv.Itoa(int(level))
	if feature != FeatureMetadata {
		return number
	}
	if name, ok := MetadataName(level); ok {
		return name + " (" + number + ")"
	}
	return number
}
