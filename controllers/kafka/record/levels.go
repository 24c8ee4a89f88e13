package record

import (
	"fmt"
	"maps"
	"time"
)

// ObserveLevels records the finalized levels: per feature the highest level seen, and when a level was lowered. A feature that is
// not reported has level 0. It reports whether the record changed.
func (r *Record) ObserveLevels(finalized map[string]int16, now time.Time) bool {
	if r.holds(finalized, now) {
		return false
	}
	levels := maps.Clone(r.Levels)
	if levels == nil {
		levels = map[string]Level{}
	}
	for feature := range finalized {
		if _, known := levels[feature]; !known {
			levels[feature] = Level{}
		}
	}
	for feature, was := range levels {
		levels[feature] = was.then(finalized[feature], now)
	}
	return r.setLevels(levels)
}

// holds reports whether an observation of the levels changes nothing.
func (r *Record) holds(finalized map[string]int16, now time.Time) bool {
	for feature, was := range r.Levels {
		if was == (Level{}) || was.then(finalized[feature], now) != was {
			return false
		}
	}
	for feature, level := range finalized {
		if _, known := r.Levels[feature]; !known && level != 0 {
			return false
		}
	}
	return true
}

// then returns the record of a feature after the given level was observed.
func (l Level) then(finalized int16, now time.Time) Level {
	switch {
	case finalized >= l.Highest:
		return Level{Highest: finalized, Finalized: finalized}
	case finalized < l.Finalized:
		l.LoweredAt = now.UTC().Truncate(time.Second)
	}
	l.Finalized = finalized
	return l
}

// SettleLevels removes lowered levels: the node is known to have a snapshot taken after the last lowering. It reports whether the
// record changed.
func (r *Record) SettleLevels() bool {
	settled := true
	for _, was := range r.Levels {
		settled = settled && was != Level{} && was == Level{Highest: was.Finalized, Finalized: was.Finalized}
	}
	if settled {
		return false
	}
	levels := maps.Clone(r.Levels)
	for feature, was := range levels {
		levels[feature] = Level{Highest: was.Finalized, Finalized: was.Finalized}
	}
	return r.setLevels(levels)
}

// setLevels reports whether the levels differ from the previous ones. A feature that was never above level 0 is not stored.
func (r *Record) setLevels(levels map[string]Level) bool {
	maps.DeleteFunc(levels, func(_ string, l Level) bool { return l == Level{} })
	if maps.Equal(r.Levels, levels) {
		return false
	}
	r.Levels = levels
	return true
}

// encodableTimes converts the times of the levels to UTC, because JSON decodes time zones that it does not encode. A time that is
// outside the years 0 to 9999 in UTC is an error. It becomes the last instant that can be encoded: no snapshot is later, so the
// level counts as still held by the log.
func (r *Record) encodableTimes() error {
	var failure error
	for feature, l := range r.Levels {
		l.LoweredAt = l.LoweredAt.UTC()
		if year := l.LoweredAt.Year(); year < 0 || year > 9999 {
			failure = fmt.Errorf("loweredAt of %s is in the year %d: write when the level was lowered, in a year from 0 to 9999, such as 2026-11-20T08:31:02Z", feature, year)
			l.LoweredAt = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
		}
		r.Levels[feature] = l
	}
	return failure
}
