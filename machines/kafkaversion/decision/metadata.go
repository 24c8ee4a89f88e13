package decision

import (
	"github.com/detent-dev/detent/clients/kafka/versions"
)

// MetadataStep is the change of metadata.version to make. The zero value is no
// change.
type MetadataStep uint8

// The steps.
const (
	// MetadataKeep: the level does not change, at all or until every node runs the desired version.
	MetadataKeep MetadataStep = iota
	// MetadataRaise: Target is above the finalized level.
	MetadataRaise
	// MetadataLower: Target is below it. Only a safe downgrade is requested.
	MetadataLower
	// MetadataUnreadable: a step may be due, but Kafka does not report the current
	// level.
	MetadataUnreadable
)

// String returns the name of the step for messages and logs.
func (m MetadataStep) String() string {
	switch m {
	case MetadataRaise:
		return "raise"
	case MetadataLower:
		return "lower"
	case MetadataUnreadable:
		return "unreadable"
	default:
		return "none"
	}
}

// MetadataPlan is what to do about metadata.version. A level of 0 is unknown.
type MetadataPlan struct {
	// Step is what to do now. It is MetadataKeep until every node runs the desired
	// version: the binaries change first, at the old levels, then the metadata.
	Step MetadataStep
	// Current is the finalized level. FromStatus is true if it is the level in the
	// status and not one reported by Kafka.
	Current    int16
	FromStatus bool
	// Target is the level to have now: the result of Step, and the level with which
	// storage is formatted now.
	Target int16
	// Wanted is the level to have once every node runs the desired version: the
	// pinned level, else the highest that the desired version supports.
	Wanted int16
}

// wantedLevel is the metadata version in the spec.
type wantedLevel struct {
	pinned bool
	// level is 0 for a name newer than every known one.
	level int16
	name  string
}

// readPin reads the metadata version in the spec, or refuses it. It reads it
// before the version change needs it, so that a mistake is reported before the
// first restart and not after the last one.
func (d *Decision) readPin(s *Situation, runs versions.Range) (wantedLevel, bool) {
	if s.WantedMetadata == "" {
		return wantedLevel{}, true
	}
	m, err := versions.WantedMetadata(s.WantedMetadata)
	if err != nil {
		d.refuse(ReasonMetadataVersionInvalid, metadataInvalid(d, runs, err))
		return wantedLevel{}, false
	}
	level, ok := m.Level()
	if ok && level < runs.Min {
		d.refuse(ReasonMetadataVersionInvalid, metadataTooLow(d, runs, m))
		return wantedLevel{}, false
	}
	return wantedLevel{pinned: true, level: level, name: m.String()}, true
}

// planMetadata plans metadata.version for an allowed change.
func (d *Decision) planMetadata(s *Situation, runs versions.Range, pin wantedLevel, current metadataLevel) {
	p := &d.Metadata
	p.Wanted = runs.Max
	switch tooNew := pin.pinned && (pin.level == 0 || pin.level > runs.Max); {
	case tooNew:
		if current.known() {
			p.Wanted = current.level
		}
		d.warn(ReasonMetadataVersionTooNew, metadataTooNew(d, runs, pin))
	case pin.pinned:
		p.Wanted = pin.level
	}
	switch {
	case d.Direction == DirectionInstall:
		p.Target = p.Wanted
	case d.Direction == DirectionStay:
		p.Target = p.Wanted
		d.planStep(current)
	case current.known():
		p.Target = current.level
	default:
		p.Target = s.commonLevel(p.Wanted, runs.Max)
	}
}

// planStep compares current and desired level, once every node runs the desired version.
func (d *Decision) planStep(current metadataLevel) {
	p := &d.Metadata
	switch {
	case current.source != levelFromKafka:
		p.Step = MetadataUnreadable
	case p.Target > current.level:
		p.Step = MetadataRaise
	case p.Target < current.level:
		p.Step = MetadataLower
		if changed, ok := versions.LoweringCrosses(current.level, p.Target); ok {
			d.warn(ReasonLoweringLikelyRefused, loweringLikelyRefused(d, changed))
		}
	}
}

// commonLevel returns the highest level that the desired version and all started
// versions support: the assumed level of the cluster while no source reports it.
// It is the desired level if nothing was ever started, and 0 if the levels of a
// started version are unknown.
func (s *Situation) commonLevel(wanted, highest int16) int16 {
	level, found := highest, false
	known := s.eachStarted(func(v versions.Version) bool {
		row, ok := v.Row()
		if !ok {
			return false
		}
		runs, ok := row.Range(versions.FeatureMetadata)
		level, found = min(level, runs.Max), true
		return ok
	})
	switch {
	case !known:
		return 0
	case !found:
		return wanted
	default:
		return level
	}
}
