package nodeids

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Pools grow and shrink for years, and what an assignment says is what the next one finds. No node ever gets the id of another
// one of which something is left, and one that is on its way out comes back before a new one is made.
func TestAssignThroughScaling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pools := []Pool{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		var kept []int32 // disks and registrations that outlived their nodes
		t.Repeat(map[string]func(*rapid.T){
			"scale": func(t *rapid.T) {
				p := &pools[rapid.IntRange(0, 2).Draw(t, "pool")]
				p.Replicas = rapid.IntRange(0, 6).Draw(t, "replicas")
			},
			"annotate": func(t *rapid.T) {
				p := &pools[rapid.IntRange(0, 2).Draw(t, "pool")]
				p.Next, p.Remove = ranged().Draw(t, "next"), ranged().Draw(t, "remove")
			},
			"a node goes": func(t *rapid.T) {
				p := &pools[rapid.IntRange(0, 2).Draw(t, "pool")]
				if len(p.Leaving) == 0 {
					t.Skip("none is leaving")
				}
				id := rapid.SampledFrom(p.Leaving).Draw(t, "id")
				without := func(other int32) bool { return other == id }
				p.IDs, p.Leaving = slices.DeleteFunc(slices.Clone(p.IDs), without), slices.DeleteFunc(slices.Clone(p.Leaving), without)
				if rapid.Bool().Draw(t, "leaves its disk") {
					kept = append(kept, id)
				}
			},
			"": func(t *rapid.T) {
				before := slices.Clone(pools)
				plan := Assign(pools, Reserved{Known: kept})
				checkPlan(t, before, kept, &plan)
				for i := range pools {
					p, a := &pools[i], plan.Pools[i]
					if len(a.Added) > 0 && len(a.Removed) > 0 {
						t.Fatalf("pool %s gets %v while %v leave", p.Name, a.Added, a.Removed)
					}
					p.IDs, p.Leaving = slices.Concat(a.Wanted, a.Removed), a.Removed
				}
				if again := Assign(pools, Reserved{Known: kept}); again.Changes() {
					t.Fatalf("assigned again it changes: %+v", again)
				}
			},
		})
	})
}

// ranged is an annotation, mostly one that can be read.
func ranged() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		from, to := rapid.IntRange(0, 12).Draw(t, "from"), rapid.IntRange(0, 12).Draw(t, "to")
		return rapid.SampledFrom([]string{"", fmt.Sprintf("[%d-%d]", from, to), fmt.Sprintf("[%d, %d]", from, to), fmt.Sprintf("[%d-", from)}).Draw(t, "form")
	})
}
