package decision

import (
	"github.com/detent-dev/detent/clients/kafka/versions"
)

// outOfRange is a finalized level that the desired version does not support.
type outOfRange struct {
	feature string
	level   int16
	runs    versions.Range
	// shown is the level for users. recorded is true if it comes from the status.
	shown    string
	recorded bool
}

// judgeLevels compares every finalized level with the range of the desired version.
// Features that the table's row does not name are not compared.
func (d *Decision) judgeLevels(s *Situation, row *versions.Row, seen sighting, metadata metadataLevel) bool {
	var outside []outOfRange
	for feature, runs := range row.Features() {
		level, known := s.Finalized.level(feature)
		o := outOfRange{feature: feature, level: level, runs: runs}
		if feature == versions.FeatureMetadata {
			level, known = metadata.level, metadata.known()
			o.level, o.recorded = level, metadata.source == levelFromStatus
		}
		switch {
		case known && !runs.Contains(level):
			o.shown = versions.FeatureLevelName(feature, level)
			if feature == versions.FeatureMetadata {
				o.shown = metadata.String()
			}
			outside = append(outside, o)
		case !known && d.hangsOn(s, feature, runs, seen):
			d.Unreadable = append(d.Unreadable, feature)
		}
	}
	if len(outside) > 0 {
		d.Unreadable = nil
		d.refuse(ReasonFeatureOutOfRange, featureOutOfRange(s, d, outside))
		return false
	}
	if len(d.Unreadable) > 0 {
		d.Reason, d.Message = ReasonLevelsUnreadable, levelsUnreadable(s, d, seen.newestStarted)
		return false
	}
	d.warnAboutLevels(s, metadata)
	return true
}

// hangsOn reports whether the decision depends on an unknown level.
func (d *Decision) hangsOn(s *Situation, feature string, runs versions.Range, seen sighting) bool {
	if feature == versions.FeatureMetadata {
		down := d.Direction == DirectionDown && seen.startedAbove(d.To.Number())
		return down || !s.bounded(feature, runs, d.To.Number())
	}
	if s.Finalized.Known {
		return false // Kafka does not list features at level 0
	}
	return !s.bounded(feature, runs, d.To.Number())
}

// bounded reports whether an unknown level is nevertheless within the range, because
// no node was last started with a version that supports a level outside of it. With
// a finalized level outside of what those versions support, they would not have
// started.
func (s *Situation) bounded(feature string, runs versions.Range, to versions.Number) bool {
	return s.eachStarted(func(v versions.Version) bool {
		if row, ok := v.Row(); ok {
			if ran, named := row.Range(feature); named {
				return ran.Within(runs)
			}
		}
		switch order := v.Number().Compare(to); {
		case order == 0:
			return true // another build of the same sources
		case order < 0:
			return runs.Min == 0 // no older version supports a level above the range
		default:
			return false
		}
	})
}

// warnAboutLevels warns if an allowed change does not rest on levels reported by Kafka.
func (d *Decision) warnAboutLevels(s *Situation, metadata metadataLevel) {
	if d.Direction == DirectionInstall || d.Direction == DirectionStay {
		return
	}
	switch metadata.source {
	case levelFromStatus:
		d.warn(ReasonLevelsFromStatus, levelsFromStatus(s, d, metadata))
	case levelUnknown:
		d.warn(ReasonLevelsUnreadable, levelsNotNeeded(s, d))
	case levelFromKafka: // no warning is needed
	}
}
