// Package drain plans the moves that take the replicas off brokers that are removed. It is a pure function of what Kafka reports, so
// that an interrupted drain continues from the same input.
package drain

import (
	"cmp"
	"slices"

	"github.com/detent-dev/detent/clients/kafka"
)

// MaxMoving is the number of partitions that are moved at once. Reassignments that somebody else started count.
const MaxMoving = 20

// Broker is a broker that stays and may get replicas.
type Broker struct {
	ID   int32
	Rack string
	// Replicas is the number of replicas that it has.
	Replicas int
	// Cordoned is true if a user has cordoned it: it gets a replica only if no other broker can.
	Cordoned bool
}

// Input is what Kafka reports.
type Input struct {
	// Leaving are the brokers that are removed.
	Leaving []int32
	// Staying are the brokers that may get replicas. A broker that is fenced is not among them, because a move to it does not end.
	Staying []Broker
	// Up are brokers that stay and are not known to be down for longer than a restart takes. They may be fenced. Moves to them are
	// awaited.
	Up []int32
	// Racks of all brokers that have replicas, by id. A broker without a rack is missing.
	Racks map[int32]string
	// Replicas of the brokers that leave.
	Replicas []kafka.Replicas
	// Moving are all reassignments in progress.
	Moving kafka.Reassignments
}

// Moves returns the next moves, at most MaxMoving with those in progress. No moves mean that the moves in progress are to be awaited,
// or that no replica is left that is not being moved. A partition keeps the replicas that stay, their order and its number of
// replicas. Each replica that leaves is replaced by the broker whose rack has the fewest replicas of the partition, and of those by
// the one with the fewest replicas. A broker that is cordoned comes after all others.
//
// A move off a broker that leaves to one that is dead does not end, and is replaced by a move to another one. It does not count
// against the limit, because it is in progress already. A partition without a leader has no replica that could be copied: it is not
// moved, and a move of it that is in progress does not count either.
func Moves(in *Input) []kafka.Move {
	leaderless := in.leaderless()
	free := in.free(leaderless)
	load := map[int32]int{}
	for _, b := range in.Staying {
		load[b.ID] = b.Replicas
	}
	var moves []kafka.Move
	seen := map[string]bool{}
	for _, m := range in.Moving.First {
		seen[nameOf(m.Topic, m.Index)] = true
		if leaderless[nameOf(m.Topic, m.Index)] || len(moves) >= MaxMoving || len(in.deadTargets(m)) == 0 {
			continue
		}
		goes := func(id int32) bool { return in.leaves(id) || in.dead(m, id) }
		if replicas, possible := in.replace(without(m.Replicas, m.Removing), goes, load); possible {
			moves = append(moves, kafka.Move{Topic: m.Topic, Index: m.Index, Replicas: replicas})
			free++ // the loop below adds free moves to these
		}
	}
	for _, r := range in.Replicas {
		for _, p := range r.First {
			name := nameOf(p.Topic, p.Index)
			if len(moves) >= free || seen[name] || leaderless[name] {
				continue
			}
			seen[name] = true
			if replicas, possible := in.replace(p.Replicas, in.leaves, load); possible {
				moves = append(moves, kafka.Move{Topic: p.Topic, Index: p.Index, Replicas: replicas})
			}
		}
	}
	return moves
}

// DeadTargets returns the brokers that get replicas of brokers that leave, and are dead. Sorted.
func DeadTargets(in *Input) []int32 {
	var out []int32
	for _, m := range in.Moving.First {
		out = append(out, in.deadTargets(m)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// deadTargets returns the brokers to which the move does not end, if it takes a replica off a broker that leaves.
func (in *Input) deadTargets(m kafka.Reassignment) []int32 {
	if !slices.ContainsFunc(m.Removing, in.leaves) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.Adding), func(id int32) bool { return !in.dead(m, id) })
}

// dead reports whether the move adds a replica on a broker that is neither alive nor about to be.
func (in *Input) dead(m kafka.Reassignment, id int32) bool {
	alive := slices.ContainsFunc(in.Staying, func(b Broker) bool { return b.ID == id }) || slices.Contains(in.Up, id)
	return slices.Contains(m.Adding, id) && !alive
}

func without(ids, others []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(ids), func(id int32) bool { return slices.Contains(others, id) })
}

// Cancellations returns the moves that cancel those in progress that take replicas off a broker that leaves. That
// includes moves that other clients started: Kafka does not record who did. Other moves are not cancelled.
func Cancellations(in *Input) []kafka.Move {
	var out []kafka.Move
	for _, m := range in.Moving.First {
		if slices.ContainsFunc(m.Removing, in.leaves) {
			out = append(out, kafka.Move{Topic: m.Topic, Index: m.Index})
		}
	}
	return out
}

func nameOf(topic string, index int32) string {
	return kafka.Partition{Topic: topic, Index: index}.Name()
}

func (in *Input) leaves(id int32) bool { return slices.Contains(in.Leaving, id) }

// replace returns the replicas with another broker in place of each that goes, and counts the added ones in load. It is not possible
// if too few brokers stay.
func (in *Input) replace(replicas []int32, goes func(int32) bool, load map[int32]int) (out []int32, possible bool) {
	out = slices.Clone(replicas)
	added := map[int32]int{}
	for i, id := range out {
		if !goes(id) {
			continue
		}
		next, found := in.successor(out, goes, load)
		if !found {
			for id, n := range added {
				load[id] -= n
			}
			return nil, false
		}
		out[i] = next
		load[next]++
		added[next]++
	}
	return out, true
}

// successor returns the broker that replaces one that goes.
func (in *Input) successor(replicas []int32, goes func(int32) bool, load map[int32]int) (int32, bool) {
	inRack := map[string]int{}
	for _, id := range replicas {
		if !goes(id) {
			inRack[in.Racks[id]]++
		}
	}
	candidates := slices.DeleteFunc(slices.Clone(in.Staying), func(b Broker) bool { return slices.Contains(replicas, b.ID) })
	if len(candidates) == 0 {
		return 0, false
	}
	return slices.MinFunc(candidates, func(a, b Broker) int {
		return cmp.Or(last(a.Cordoned)-last(b.Cordoned), cmp.Compare(inRack[a.Rack], inRack[b.Rack]), cmp.Compare(load[a.ID], load[b.ID]), cmp.Compare(a.ID, b.ID))
	}).ID, true
}

// last orders what it is true of after the rest.
func last(is bool) int {
	if is {
		return 1
	}
	return 0
}
