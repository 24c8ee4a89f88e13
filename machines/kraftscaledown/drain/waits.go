package drain

import (
	"maps"
	"slices"

	"github.com/detent-dev/detent/clients/kafka"
)

// Waits are what a drain waits for in addition to its moves in progress.
type Waits struct {
	// Leaderless are partitions without a leader: none of their replicas in sync is alive, so that nothing can be copied.
	Leaderless []string
	// Unplaced are partitions that no broker can get now: too few of the brokers that stay are alive.
	Unplaced []string
	// Others is the number of reassignments in progress, if they take all places and none of them is of this drain; else 0.
	Others int
}

// WaitsOf returns what the drain waits for.
func WaitsOf(in *Input) Waits {
	leaderless, moving, own := in.leaderless(), map[string]bool{}, false
	for _, m := range in.Moving.First {
		moving[nameOf(m.Topic, m.Index)] = true
		own = own || slices.ContainsFunc(m.Removing, in.leaves)
	}
	w := Waits{Leaderless: slices.Sorted(maps.Keys(leaderless))}
	if !own && in.free(leaderless) <= 0 {
		w.Others = in.Moving.Total
	}
	for _, r := range in.Replicas {
		for _, p := range r.First {
			name := nameOf(p.Topic, p.Index)
			if moving[name] || leaderless[name] {
				continue
			}
			if _, possible := in.replace(p.Replicas, in.leaves, map[int32]int{}); !possible {
				w.Unplaced = append(w.Unplaced, name)
			}
		}
	}
	slices.Sort(w.Unplaced)
	w.Unplaced = slices.Compact(w.Unplaced)
	return w
}

// leaderless returns the names of the partitions that are to be moved and have no leader.
func (in *Input) leaderless() map[string]bool {
	out := map[string]bool{}
	for _, r := range in.Replicas {
		for _, p := range r.First {
			if p.Leader == kafka.NoLeader {
				out[nameOf(p.Topic, p.Index)] = true
			}
		}
	}
	return out
}

// free returns how many moves may be added to those in progress.
func (in *Input) free(leaderless map[string]bool) int {
	free := MaxMoving - in.Moving.Total
	for _, m := range in.Moving.First {
		if leaderless[nameOf(m.Topic, m.Index)] {
			free++
		}
	}
	return free
}
