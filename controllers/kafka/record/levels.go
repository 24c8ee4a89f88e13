package record

import (
	"maps"
	"time"
)

// ObserveLevels takes in which levels are finalized: per feature the highest one seen, and when a level was lowered. A feature
// that is not reported stands at level 0. It says whether that is news.
func (r *Record) ObserveLevels(finalized map[string]int16, now time.Time) bool {
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

// then is the level after another one, or the same, was seen finalized.
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

// SettleLevels forgets the levels that were lowered: the node is known to hold a snapshot taken after the last lowering. It
// says whether there was something to forget.
func (r *Record) SettleLevels() bool {
	levels := maps.Clone(r.Levels)
	for feature, was := range levels {
		levels[feature] = Level{Highest: was.Finalized, Finalized: was.Finalized}
	}
	return r.setLevels(levels)
}

// setLevels says whether they differ from those before. A feature at level 0 that was never higher is not remembered.
func (r *Record) setLevels(levels map[string]Level) bool {
	maps.DeleteFunc(levels, func(_ string, l Level) bool { return l == Level{} })
	if maps.Equal(r.Levels, levels) {
		return false
	}
	r.Levels = levels
	return true
}
