package versions

import "strconv"

// The features that Kafka finalizes for a whole cluster (KIP-584, KIP-1022), by
// the names Kafka reports them under.
const (
	FeatureMetadata               = "metadata.version"
	FeatureKRaft                  = "kraft.version"
	FeatureTransaction            = "transaction.version"
	FeatureGroup                  = "group.version"
	FeatureEligibleLeaderReplicas = "eligible.leader.replicas.version"
	FeatureShare                  = "share.version"
	FeatureStreams                = "streams.version"
)

// Range is the levels of one feature that a binary can run, both ends included.
// A node whose binary meets a finalized level outside the range dies at start.
type Range struct {
	Min, Max int16
}

// Contains tells whether a binary with this range runs at the level.
func (r Range) Contains(level int16) bool { return r.Min <= level && level <= r.Max }

// Within tells whether every level of this range lies in the other one.
func (r Range) Within(other Range) bool { return other.Min <= r.Min && r.Max <= other.Max }

// FeatureLevelName gives a level as people know it: "4.1-IV1 (level 27)" for
// metadata.version, "level 1" for any other feature and for a metadata level that
// has no name here.
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
