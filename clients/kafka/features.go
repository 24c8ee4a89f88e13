package kafka

import (
	"errors"
	"maps"
)

// MetadataVersion is the name of the feature that decides which records the
// metadata log may hold.
const MetadataVersion = "metadata.version"

// Range of feature levels that a binary supports, both ends included.
type Range struct {
	Min int16 `json:"min"`
	Max int16 `json:"max"`
}

// Contains tells whether the level lies in the range.
func (r Range) Contains(level int16) bool { return r.Min <= level && level <= r.Max }

// Features are the finalized levels of the cluster and, of the brokers that were
// asked, the ranges their binaries support.
type Features struct {
	// Finalized level by feature name. A feature that is absent stands at level 0.
	Finalized map[string]int16 `json:"finalized"`
	// Epoch of the finalized levels, which grows with each change; -1 when the
	// answering broker knows none.
	Epoch int64 `json:"epoch"`
	// Supported ranges by broker id, then by feature name. A broker that was not
	// asked, or could not be, is absent: absence says nothing about its binary.
	Supported map[int32]map[string]Range `json:"supported,omitempty"`
}

// Complete tells an answer from a broker that has not caught up with the metadata log,
// or is none of a KRaft cluster: every KRaft cluster has a finalized metadata.version. A
// Reader does not return levels that are not complete, since a feature that is absent
// from them is not at level 0.
func (f Features) Complete() error {
	if f.Epoch < 0 || f.Level(MetadataVersion) == 0 {
		return errors.New("the broker knows no finalized " + MetadataVersion)
	}
	return nil
}

// Level is the finalized level of the named feature, 0 when it is not finalized.
func (f Features) Level(name string) int16 { return f.Finalized[name] }

// Clone returns a copy that shares nothing with f.
func (f Features) Clone() Features {
	f.Finalized = maps.Clone(f.Finalized)
	f.Supported = maps.Clone(f.Supported)
	for id, ranges := range f.Supported {
		f.Supported[id] = maps.Clone(ranges)
	}
	return f
}
