package noderoll

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// NeedSlot is the slot under --max-active.
const NeedSlot transitions.Need = "slot"

// Slot is the position of one cluster under the limit on clusters that roll at once. The zero value permits its roll.
type Slot struct {
	// Position in the queue, from 1; 0 if the roll may begin.
	Position int
	// MaxActive is the maximum number of clusters that roll at once. Taken is the number that roll now.
	MaxActive, Taken int
	// Holders are some of the clusters that roll: those whose roll is impeded first, then by name.
	Holders []Holder
}

// Holder is a cluster that holds a slot.
type Holder struct {
	// Cluster as namespace/name.
	Cluster string
	// Impeded is why its roll makes no progress.
	Impeded Impediment
}

// Impediment is why the roll of a cluster makes no progress.
type Impediment string

// Impediments.
const (
	// NotImpeded: it makes progress.
	NotImpeded Impediment = ""
	Stalled    Impediment = "stalled"
	Paused     Impediment = "paused"
)

// exactPositions is the last position that is shown exactly, with the holders. For later positions the message changes only when
// the number of clusters ahead falls below the next step, so that the end of one roll does not rewrite the statuses of the whole
// queue.
const exactPositions = 10

// String describes the wait for users.
func (s *Slot) String() string {
	holders := s.Holders
	place := fmt.Sprintf("position %d in the queue", s.Position)
	if s.Position > exactPositions {
		holders = slices.DeleteFunc(slices.Clone(holders), func(h Holder) bool { return h.Impeded == NotImpeded })
		place = fmt.Sprintf("at least %d clusters are ahead in the queue", step(s.Position-1))
	}
	taken := fmt.Sprintf("%d of %d slots are taken", s.Taken, s.MaxActive)
	if len(holders) == 0 {
		return place + "; " + taken
	}
	names := make([]string, len(holders))
	for i, h := range holders {
		names[i] = h.Cluster
		if h.Impeded != NotImpeded {
			names[i] += " (" + string(h.Impeded) + ")"
		}
	}
	text := place + "; " + taken + ", by " + strings.Join(names, ", ")
	if more := s.Taken - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// step returns the largest of 10, 20, 50, 100, 200, 500 and so on that is not above n. n must be at least 10.
func step(n int) int {
	best := exactPositions
	for power := 1; power <= n; power *= 10 {
		for _, s := range []int{power, 2 * power, 5 * power} {
			if s <= n {
				best = max(best, s)
			}
		}
	}
	return best
}

// slotGranted limits how many clusters roll at once. A roll that may repair a node needs no slot: no gate blocks recovery.
var slotGranted = guard{
	Name: "slot-granted", Doc: "the cluster has a slot of --max-active, or a node that needs a restart cannot start", Expected: "a slot of --max-active",
	Needs: []transitions.Need{NeedSlot},
	Evaluate: func(f *Facts, _ roll.Data) transitions.Verdict {
		if slices.ContainsFunc(f.Roll.Nodes, func(n roll.Node) bool { return n.Outdated && n.Failed(f.Roll.Now) }) {
			return transitions.Allow()
		}
		slot, known := f.Slot.Get()
		if !known {
			return f.Slot.Gap()
		}
		return transitions.If(slot.Position == 0, slot.String())
	},
}
