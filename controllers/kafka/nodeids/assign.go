// Package nodeids decides which node ids the pools of a Kafka cluster have: a pure function of what exists and what is
// wanted. An id is part of the names of a node's disks and of its registration with Kafka, so it stays with its node, and
// no id is ever given to a second node while anything of the first is left.
package nodeids

import (
	"fmt"
	"slices"
	"strings"
)

// Pool is one pool of a cluster.
type Pool struct {
	Name string
	// Replicas wanted.
	Replicas int
	// IDs that exist, whatever of them is left: the union of every place that remembers one.
	IDs []int32
	// Leaving are those of IDs that were already chosen to go. They are taken back before a new id is made.
	Leaving []int32
	// Next and Remove are the annotations that say which ids come and go first.
	Next, Remove string
	// Frozen says that the pool may neither grow nor shrink, and why: it holds controllers of a static quorum.
	Frozen string
}

// Assignment is the ids of one pool. All lists are in ascending order.
type Assignment struct {
	Pool string
	// Wanted ids: those that stay and those that are Added.
	Wanted []int32
	// Added ids are new.
	Added []int32
	// Removed ids exist and are wanted no longer, those chosen before included.
	Removed []int32
}

// Warning is something a person should know that stops nothing.
type Warning struct {
	Pool, Reason, Message string
}

// Reasons of warnings.
const (
	// ReasonInvalidRange: an annotation is no list of ids and is ignored.
	ReasonInvalidRange = "InvalidNodeIDs"
	// ReasonFrozen: a change of replicas is refused.
	ReasonFrozen = "ReplicasCannotChange"
)

// Plan is the ids of all pools of a cluster.
type Plan struct {
	// Pools in the order given.
	Pools []Assignment
	// Refusal says, naming both pools, that one id is in two of them. Nothing is added or removed then.
	Refusal  string
	Warnings []Warning
}

// Of is the assignment of the pool; empty for a pool that was not given.
func (p *Plan) Of(pool string) Assignment {
	for i := range p.Pools {
		if p.Pools[i].Pool == pool {
			return p.Pools[i]
		}
	}
	return Assignment{Pool: pool}
}

// Changes says whether an id is added.
func (p *Plan) Changes() bool {
	return slices.ContainsFunc(p.Pools, func(a Assignment) bool { return len(a.Added) > 0 })
}

// Assign decides. Reserved ids are free for nobody: they may still be registered, or their disks may still exist.
//
// Pools share one number line. New ids come from the pool's own list in order, then from the lowest free one; ids go in the
// order of the pool's list, then from the highest. The lists count only while the pool grows or shrinks. The rules are the
// ones that Strimzi's users know.
func Assign(pools []Pool, reserved []int32) Plan {
	plan := Plan{Pools: make([]Assignment, 0, len(pools))}
	used := map[int32]bool{}
	for _, id := range reserved {
		used[id] = true
	}
	owner := map[int32]string{}
	for i := range pools {
		for _, id := range pools[i].IDs {
			if other, taken := owner[id]; taken && other != pools[i].Name && plan.Refusal == "" {
				plan.Refusal = twice(id, other, pools[i].Name)
			}
			owner[id], used[id] = pools[i].Name, true
		}
	}
	for i := range pools {
		plan.Pools = append(plan.Pools, plan.assign(&pools[i], used))
	}
	return plan
}

func twice(id int32, a, b string) string {
	names := []string{a, b}
	slices.Sort(names)
	return fmt.Sprintf("node id %d is in the KafkaNodePools %s: remove it from one of them; nothing is added or removed until then",
		id, strings.Join(names, " and "))
}

// assign decides for one pool and marks the ids it takes as used.
func (p *Plan) assign(pool *Pool, used map[int32]bool) Assignment {
	next := p.list(pool, pool.Next, "strimzi.io/next-node-ids")
	remove := p.list(pool, pool.Remove, "strimzi.io/remove-node-ids")
	staying, leaving := split(pool)
	change := pool.Replicas - len(staying)
	a := Assignment{Pool: pool.Name}
	switch {
	case change != 0 && p.Refusal != "":
	case change != 0 && pool.Frozen != "":
		p.Warnings = append(p.Warnings, Warning{Pool: pool.Name, Reason: ReasonFrozen, Message: fmt.Sprintf(
			"KafkaNodePool %s stays at %d nodes and does not go to %d: %s", pool.Name, len(staying), pool.Replicas, pool.Frozen)})
	case change > 0:
		back := leaving[:min(change, len(leaving))]
		staying, leaving = append(staying, back...), leaving[len(back):]
		a.Added = take(next, change-len(back), used)
		staying = append(staying, a.Added...)
	case change < 0:
		gone := choose(remove, staying, -change)
		staying = slices.DeleteFunc(staying, func(id int32) bool { return slices.Contains(gone, id) })
		leaving = append(leaving, gone...)
	}
	slices.Sort(staying)
	slices.Sort(leaving)
	a.Wanted, a.Removed = staying, leaving
	return a
}

// list reads an annotation; one that is no list is ignored with a warning.
func (p *Plan) list(pool *Pool, text, name string) ranges {
	r, err := parse(text)
	if err != nil {
		p.Warnings = append(p.Warnings, Warning{Pool: pool.Name, Reason: ReasonInvalidRange, Message: fmt.Sprintf(
			"KafkaNodePool %s: annotation %s is ignored: %s", pool.Name, name, err)})
	}
	return r
}

// split parts the ids of a pool, both in ascending order and none twice.
func split(pool *Pool) (staying, leaving []int32) {
	ids := slices.Clone(pool.IDs)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if slices.Contains(pool.Leaving, id) {
			leaving = append(leaving, id)
		} else {
			staying = append(staying, id)
		}
	}
	return staying, leaving
}

// take gives n ids that nobody uses, in ascending order.
func take(from ranges, n int, used map[int32]bool) []int32 {
	var taken []int32
	use := func(id int32) bool {
		if len(taken) < n && !used[id] {
			used[id] = true
			taken = append(taken, id)
		}
		return len(taken) < n
	}
	if n > 0 {
		from.each(use)
	}
	for id := int32(0); len(taken) < n; id++ {
		use(id)
	}
	slices.Sort(taken)
	return taken
}

// choose gives n of the ids, which are in ascending order: by the list, then from the highest.
func choose(from ranges, ids []int32, n int) []int32 {
	var chosen []int32
	use := func(id int32) {
		if len(chosen) < n && !slices.Contains(chosen, id) {
			chosen = append(chosen, id)
		}
	}
	for _, s := range from {
		s.of(ids, use)
	}
	for _, id := range slices.Backward(ids) {
		use(id)
	}
	return chosen
}
