package noderoll

import (
	"time"

	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/machines/verification"
)

// Domain is what the machine is verified over.
func Domain() verification.Domain[Facts, roll.Memo] {
	now := time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)
	type value = verification.Value[Facts]
	return verification.Domain[Facts, roll.Memo]{
		Base: func() Facts { return Facts{Roll: roll.DomainFacts(now), Wanted: "wanted"} },
		Dimensions: append(roll.DomainNodes(func(f *Facts) *roll.Facts { return &f.Roll }), verification.Of(value{},
			value{Name: "a version change is under way", Set: func(f *Facts) { f.VersionChange = "3 nodes are to be moved" }},
			value{Name: "the declaration is broken", Set: func(f *Facts) { f.Obstacle = "two pools claim node id 3" }})),
		Memos: roll.DomainMemos,
	}
}
