package kafkaversion

import (
	"github.com/detent-dev/detent/clients/kafka/versions"
)

// outOfRange is a finalized level that the wanted version does not run.
type outOfRange struct {
	feature string
	level   int16
	runs    versions.Range
	// shown is the level for people, recorded tells that it is the status's word.
	shown    string
	recorded bool
}

// judgeLevels holds every finalized level against what the wanted version runs. A
// feature that the row does not name is not judged.
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

// hangsOn tells whether the decision hangs on a level that is not known.
func (d *Decision) hangsOn(s *Situation, feature string, runs versions.Range, seen sighting) bool {
	if feature == versions.FeatureMetadata {
		down := d.Direction == DirectionDown && seen.startedAbove(d.To.Number())
		return down || !s.bounded(feature, runs, d.To.Number())
	}
	if s.Finalized.Known {
		return false // Kafka leaves a feature at level 0 out
	}
	return !s.bounded(feature, runs, d.To.Number())
}

// bounded tells whether a level that is not known must nevertheless lie in the
// range: no node was last started with a version that could have run it at a level
// outside. Had it been finalized outside of what those versions run, they would
// not have started.
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
			return runs.Min == 0 // nothing older runs a level that is too high
		default:
			return false
		}
	})
}

// warnAboutLevels says on what an allowed change rests, where it is not Kafka's word.
func (d *Decision) warnAboutLevels(s *Situation, metadata metadataLevel) {
	if d.Direction == DirectionInstall || d.Direction == DirectionStay {
		return
	}
	switch metadata.source {
	case levelFromStatus:
		d.warn(ReasonLevelsFromStatus, levelsFromStatus(s, d, metadata))
	case levelUnknown:
		d.warn(ReasonLevelsUnreadable, levelsNotNeeded(s, d))
	case levelFromKafka: // Kafka's word
	}
}
