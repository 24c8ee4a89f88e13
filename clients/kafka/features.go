package kafka

import (
	"errors"
	"maps"
)

// MetadataVersion is the name of the feature that determines which records the metadata log
// may contain.
const MetadataVersion = "metadata.version"

// Range is the feature levels that a binary supports, both ends included.
type Range struct {
	Min int16 `json:"min"`
	Max int16 `json:"max"`
}

// Contains reports whether the level is in the range.
func (r Range) Contains(level int16) bool { return r.Min <= level && level <= r.Max }

// Features are the finalized levels of the cluster, and the ranges that the binaries of the
// named brokers support.
type Features struct {
	// Finalized is the level by feature name. A feature that is absent has level 0.
	Finalized map[string]int16 `json:"finalized"`
	// Epoch of the finalized levels, which grows with each change; -1 when the answering
	// broker has none.
	Epoch int64 `json:"epoch"`
	// Supported is the ranges by broker id, then by feature name. A broker that was not
	// asked, or did not answer, is absent; nothing is known about its binary.
	Supported map[int32]map[string]Range `json:"supported,omitempty"`
}

// Complete fails for an answer of a broker that has not caught up with the metadata log, or
// does not belong to a KRaft cluster: every KRaft cluster has a finalized metadata.version.
// A Reader does not return incomplete levels, because a feature that is absent from them
// may have a level other than 0.
func (f Features) Complete() error {
	if f.Epoch < 0 || f.Level(MetadataVersion) == 0 {
		return errors.New("the broker knows no finalized " + MetadataVersion)
	}
	return nil
}

// Level is the finalized level of the named feature, 0 if it is not finalized.
func (f Features) Level(name string) int16 { return f.Finalized[name] }

// Clone returns a deep copy.
func (f Features) Clone() Features {
	f.Finalized = maps.Clone(f.Finalized)
	f.Supported = maps.Clone(f.Supported)
	for id, ranges := range f.Supported {
		f.Supported[id] = maps.Clone(ranges)
	}
	return f
}
