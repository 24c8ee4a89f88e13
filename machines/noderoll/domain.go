package noderoll

import (
	"errors"
	"time"

	"github.com/detent-dev/detent/machines/domain"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// Domain returns the domain over which the machine is verified.
func Domain() domain.Domain[Facts, roll.Data] {
	now := time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)
	type value = domain.Value[Facts]
	return domain.Domain[Facts, roll.Data]{
		Base: func() Facts {
			return Facts{Roll: roll.DomainFacts(now), Wanted: "wanted", Slot: transitions.Known(Slot{}, now)}
		},
		Dimensions: append(roll.DomainNodes(func(f *Facts) *roll.Facts { return &f.Roll }), domain.Of(value{},
			value{Name: "all slots are taken", Set: func(f *Facts) {
				f.Slot = transitions.Known(Slot{Position: 1, MaxActive: 1, Taken: 1, Holders: []Holder{{Cluster: "prod/orders"}}}, now)
			}},
			value{Name: "the queue cannot be read", Set: func(f *Facts) { f.Slot = transitions.Unreadable[Slot](errors.New("the cache is closed")) }},
			value{Name: "a version change is under way", Set: func(f *Facts) { f.VersionChange = transitions.Problemf("VersionChange", "3 nodes are to be moved") }},
			value{Name: "the declaration is broken", Set: func(f *Facts) { f.SpecError = transitions.Problemf("NodeIDsRefused", "two pools claim node id 3") }})),
		Data: roll.DomainData,
	}
}
