package kraftscaledown

import (
	"fmt"

	"github.com/detent-dev/detent/machines/kraftscaledown/drain"
	"github.com/detent-dev/detent/machines/roll"
)

// deadTargets names the brokers to which replicas are being moved although they are down; empty if there are none, or if that is not
// known. Such moves are replaced as soon as another broker can get the replicas.
func (f *Facts) deadTargets() string {
	_, moves := f.Moves.Get()
	if _, brokers := f.Brokers.Get(); !moves || !brokers {
		return ""
	}
	dead := drain.DeadTargets(f.inProgress())
	if len(dead) == 0 {
		return ""
	}
	names := make([]string, len(dead))
	for i, id := range dead {
		names[i] = f.name(id)
	}
	return ", and moves to " + roll.Names(names) + " do not end, since these brokers are down or leave: they are replaced once other brokers can get the replicas"
}

// drainWaits says why partitions of the broker are not moved now; empty if there is no reason, or if that is not known.
func (f *Facts) drainWaits(id int32) string {
	_, moves := f.Moves.Get()
	if _, brokers := f.Brokers.Get(); !moves || !brokers {
		return ""
	}
	w, text := drain.WaitsOf(f.inProgress(id)), ""
	if w.Others > 0 {
		text += fmt.Sprintf(", and %d reassignments that are not of this drain are in progress, of at most %d: wait for them, or cancel those that do not end", w.Others, drain.MaxMoving)
	}
	if len(w.Unplaced) > 0 {
		text += ", and too few of the brokers that stay are alive to get " + roll.Names(w.Unplaced) + ": make the others ready"
	}
	if len(w.Leaderless) > 0 {
		text += ", and " + roll.Names(w.Leaderless) + " cannot be moved without a leader: bring a broker with a replica in sync back, or delete the topics"
	}
	return text
}
