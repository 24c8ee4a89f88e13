package kafkaversion

import (
	"math"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

// annotationVersion is the annotation that carries a pod's Kafka version.
const annotationVersion = "strimzi.io/kafka-version"

// Situation is everything that the decision rests on, as plain values.
type Situation struct {
	// WantedVersion is spec.kafka.version, or what stands in for it; "" for the
	// default of the table.
	WantedVersion string
	// WantedMetadata is spec.kafka.metadataVersion, "" for the highest level of the
	// wanted version.
	WantedMetadata string
	// Table is the versions that the operator knows. It belongs to the operator and is in no journal.
	Table *versions.Table `json:"-"`
	// Nodes is every node that has a pod, a record or storage, of every pool,
	// controllers included, leaving ones too.
	Nodes []NodeVersions
	// RecordedVersion is status.kafkaVersion, which counts where no disk is known to
	// have been started; RecordedMetadata is status.kafkaMetadataVersion, which
	// stands in for Kafka's word. Both are "" when the status has none.
	RecordedVersion, RecordedMetadata string
	// Finalized is what Kafka reports.
	Finalized FinalizedLevels
}

// NodeVersions is what is known of the version of one node.
type NodeVersions struct {
	// ID is the node id.
	ID int32
	// Name is the name of the node's pod, whether or not it exists.
	Name string
	// HasPod tells whether the pod exists.
	HasPod bool
	// Runs is the version that the pod runs, by what the operator wrote and the
	// container image. It is the pod's annotation only where the operator wrote
	// nothing; "" where nothing says.
	Runs string
	// LastStarted is the version that the node's record says its disk was last
	// started with, "" without a record and before the first start.
	LastStarted string
	// NeverStarted is set only where the node's record says that no process was
	// ever started. A node without a record counts as started with the version
	// that its pod carries.
	NeverStarted bool
	// Contradiction says how the pod contradicts its version; "" if it does not.
	Contradiction string
	// Unproven is why Runs is not proven to be what the process runs; "" if it is.
	Unproven string
}

// FinalizedLevels is the finalized level of every feature as Kafka reports it. The
// zero value is unreadable.
type FinalizedLevels struct {
	// Known tells whether Kafka answered.
	Known bool
	// Levels is by feature. Kafka leaves out features at level 0.
	Levels map[string]int16
	// Problem says why Kafka did not answer.
	Problem string
}

// level gives the finalized level of a feature, false when Kafka did not report it.
func (f *FinalizedLevels) level(feature string) (int16, bool) {
	if !f.Known {
		return 0, false
	}
	level, ok := f.Levels[feature]
	return level, ok
}

// levelSource is where a level of metadata.version comes from.
type levelSource uint8

const (
	levelUnknown levelSource = iota
	levelFromKafka
	levelFromStatus
)

// aboveNames stands for the level of a metadata version that is newer than every
// one that has a name.
const aboveNames int16 = math.MaxInt16

// metadataLevel is the cluster's level of metadata.version as far as it is known.
type metadataLevel struct {
	level  int16
	source levelSource
	// name is what the status recorded, for a level without a name.
	name string
}

func (l metadataLevel) known() bool { return l.source != levelUnknown }

// shown gives the level for the outside, 0 where none can be given.
func (l metadataLevel) shown() int16 {
	if l.level == aboveNames {
		return 0
	}
	return l.level
}

// String names the level for messages.
func (l metadataLevel) String() string {
	if l.level == aboveNames && l.name != "" {
		return l.name
	}
	return versions.FeatureLevelName(versions.FeatureMetadata, l.level)
}

// metadataLevel gives Kafka's word, else what the status recorded. A recorded text
// that names no level is as good as none.
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
