package decision

import (
	"math"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/transitions"
)

// annotationVersion is the annotation with a pod's Kafka version.
const annotationVersion = "strimzi.io/kafka-version"

// Situation is the input of the decision, as plain values.
type Situation struct {
	// WantedVersion is spec.kafka.version, or the version that replaces an unset one;
	// empty for the default of the table.
	WantedVersion string
	// WantedMetadata is spec.kafka.metadataVersion; empty for the highest level of the
	// desired version.
	WantedMetadata string
	// Table of the versions that the operator knows. It belongs to the operator and is not part of a journal.
	Table *versions.Table `json:"-"`
	// Nodes are all nodes with a pod, a record or storage, of every pool, including
	// controllers and nodes that are being removed.
	Nodes []NodeVersions
	// RecordedVersion is status.kafkaVersion, which is used if no disk is known to
	// have been started. RecordedMetadata is status.kafkaMetadataVersion, which is
	// used if Kafka does not report the level. Both are empty if the status has none.
	RecordedVersion, RecordedMetadata string
	// Finalized are the levels that Kafka reports.
	Finalized FinalizedLevels
}

// NodeVersions is the evidence about the version of one node.
type NodeVersions struct {
	// ID is the node id.
	ID int32
	// Name is the name of the node's pod, whether or not it exists.
	Name string
	// HasPod is true if the pod exists.
	HasPod bool
	// Runs is the version of the pod, by what the operator recorded and by the
	// container image. It is the pod's annotation only if the operator recorded
	// nothing. It is empty if no source has it.
	Runs string
	// LastStarted is the version with which the node's disk was last started, by the
	// node's record; empty without a record and before the first start.
	LastStarted string
	// NeverStarted is true only if the node's record says that no process was ever
	// started. A node without a record is assumed to have started with its pod's
	// version.
	NeverStarted bool
	// Contradiction describes how the pod contradicts its version; nil if it does not.
	Contradiction *transitions.Problem
	// Unproven is why Runs is not proven to be the version of the process; nil if it is.
	Unproven *transitions.Problem
}

// FinalizedLevels are the finalized levels of the features as Kafka reports them. The
// zero value is unreadable.
type FinalizedLevels struct {
	// Known is true if Kafka answered.
	Known bool
	// Levels by feature. Kafka does not list features at level 0.
	Levels map[string]int16
	// Err is why Kafka did not answer. Optional. It is not part of a journal, which has it with the fact.
	Err error `json:"-"`
}

// level returns the finalized level of a feature, and false if Kafka did not report it.
func (f *FinalizedLevels) level(feature string) (int16, bool) {
	if !f.Known {
		return 0, false
	}
	level, ok := f.Levels[feature]
	return level, ok
}

// levelSource is the source of a level of metadata.version.
type levelSource uint8

const (
	levelUnknown levelSource = iota
	levelFromKafka
	levelFromStatus
)

// aboveNames represents the level of a metadata version that is newer than every
// named one.
const aboveNames int16 = math.MaxInt16

// metadataLevel is the known level of metadata.version.
type metadataLevel struct {
	level  int16
	source levelSource
	// name is the text in the status, for a level without a name.
	name string
}

func (l metadataLevel) known() bool { return l.source != levelUnknown }

// shown returns the level for the outside, or 0 if it has no number.
func (l metadataLevel) shown() int16 {
	if l.level == aboveNames {
		return 0
	}
	return l.level
}

// String returns the name of the level for messages.
func (l metadataLevel) String() string {
	if l.level == aboveNames && l.name != "" {
		return l.name
	}
	return versions.FeatureLevelName(versions.FeatureMetadata, l.level)
}

// metadataLevel returns the level that Kafka reports, else the one in the status. A
// text in the status that names no known level counts as unknown.
func (s *Situation) metadataLevel() metadataLevel {
	if level, ok := s.Finalized.level(versions.FeatureMetadata); ok && level > 0 {
		return metadataLevel{level: level, source: levelFromKafka}
	}
	if s.RecordedMetadata == "" {
		return metadataLevel{}
	}
	m, err := versions.ParseMetadata(s.RecordedMetadata)
	if err != nil {
		return metadataLevel{}
	}
	if level, ok := m.Level(); ok {
		return metadataLevel{level: level, source: levelFromStatus}
	}
	if m.Newer() {
		return metadataLevel{level: aboveNames, source: levelFromStatus, name: m.String()}
	}
	return metadataLevel{}
}
