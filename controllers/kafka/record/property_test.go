package record

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Only a node's record knows the levels in its log: it is never below what was finalized since the last snapshot, in any order of
// levels, snapshots and restarts of the manager.
func TestRecordLevelsThroughRaisingLoweringAndSnapshots(t *testing.T) {
	const feature = "metadata.version"
	rapid.Check(t, func(t *rapid.T) {
		var r Record
		var finalized, held int16 // what Kafka has, and the highest that the node's log may hold
		var lowered time.Time     // when it was last lowered, as far as that could be seen
		now := noon
		t.Repeat(map[string]func(*rapid.T){
			"a level is finalized": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 100).Draw(t, "seconds")) * time.Second)
				level := rapid.Int16Range(0, 5).Draw(t, "level")
				switch {
				case level >= held:
					lowered = time.Time{}
				case level < finalized:
					lowered = now
				}
				finalized, held = level, max(held, level)
				before := r.Clone()
				if changed := r.ObserveLevels(map[string]int16{feature: level}, now); changed == before.Equal(&r) {
					t.Fatalf("says %v of a change from %+v to %+v", changed, before.Levels, r.Levels)
				}
			},
			"a snapshot is taken": func(*rapid.T) {
				held, lowered = finalized, time.Time{}
				r.SettleLevels()
			},
			"the manager restarts": func(t *rapid.T) {
				r.ID, r.Format = 3, FormatDone
				read, err := Decode(r.Encode())
				if err != nil || !read.Equal(&r) {
					t.Fatalf("reads %+v of %+v: %v", read, r, err)
				}
				r = read
			},
			"": func(t *rapid.T) {
				if got := r.Levels[feature]; got.Highest != held || got.Finalized != finalized || !got.LoweredAt.Equal(lowered) {
					t.Fatalf("remembers %+v; the log may hold %d, finalized is %d, lowered at %s", got, held, finalized, lowered)
				}
			},
		})
	})
}
