package kafkaversion

import (
	"github.com/detent-dev/detent/clients/kafka/versions"
)

// MetadataStep is what is to be done about metadata.version. The zero value is
// nothing.
type MetadataStep uint8

// The steps.
const (
	// MetadataKeep: the level stays as it is, for good or until the nodes are done.
	MetadataKeep MetadataStep = iota
	// MetadataRaise: Target is above the finalized level.
	MetadataRaise
	// MetadataLower: Target is below it; a safe downgrade, never another kind.
	MetadataLower
	// MetadataUnreadable: it is the time for a step, and Kafka does not say at
	// which level it is.
	MetadataUnreadable
)

// String gives the word for messages and logs.
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

// MetadataPlan is what becomes of metadata.version. A level of 0 is not known.
type MetadataPlan struct {
	// Step is what to do now. It is MetadataKeep until every node runs the wanted
	// version: binaries first, with the old levels, then the metadata.
	Step MetadataStep
	// Current is the finalized level. FromStatus tells that it is the one that the
	// status recorded, not Kafka's word.
	Current    int16
	FromStatus bool
	// Target is the level to be at now: what Step moves to, and what storage that
	// is formatted now starts with.
	Target int16
	// Wanted is the level that the spec asks for once every node runs the wanted
	// version: the pinned one, else the highest that the wanted version runs.
	Wanted int16
}

// wantedLevel is the pinned metadata version.
type wantedLevel struct {
	pinned bool
	// level is 0 for a name newer than every known one.
	level int16
	name  string
}

// readPin reads the pinned metadata version, or refuses it. It is read although a
// version change does not use it yet, so that a mistake shows before the first
// restart and not after the last one.
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

// planMetadata says what becomes of metadata.version when the change is allowed.
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

// planStep compares, once every node runs the wanted version.
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

// commonLevel is the highest level that every version which was started, and the
// wanted one, runs: what the cluster may be taken to be at while nobody says. It
// is the wanted level when nothing was ever started, and 0 when a version that
// was has no known levels.
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
