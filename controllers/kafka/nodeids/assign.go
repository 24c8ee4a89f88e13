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
	// Unproven are those of IDs that the pool's status lists and of which nothing exists. Each was assigned and its node is
	// not created yet, or it was edited into the status. They never displace a node that exists.
	Unproven []int32
	// Next and Remove are the annotations that say which ids come and go first.
	Next, Remove string
	// Frozen says that the pool may neither grow nor shrink, and why: it holds controllers of a static quorum.
	Frozen string
	// Controllers says that the pool's nodes are controllers. Kafka cannot answer before they run, so that their ids are not
	// withheld until it does.
	Controllers bool
}

// Assignment is the ids of one pool. All lists are in ascending order.
type Assignment struct {
	Pool string
	// Wanted ids: those that stay, those Pending and those Added.
	Wanted []int32
	// Pending ids are the Unproven ones of which nodes are to be created.
	Pending []int32
	// Added ids are new.
	Added []int32
	// Removed ids exist and are wanted no longer, those chosen before included.
	Removed []int32
	// Withheld is how many nodes are not created yet, since it is not known which ids are free.
	Withheld int
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
	// ReasonTooMany: more replicas are declared than a pool may have.
	ReasonTooMany = "TooManyReplicas"
	// ReasonWithheld: ids are assigned once it is known which ones Kafka knows.
	ReasonWithheld = "NodeIDsNotAssigned"
)

// MaxReplicas of a pool, as its schema says. It bounds what one assignment costs: an object that was stored under another
// schema may declare any number.
const MaxReplicas = 1000

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

// Creates says whether nodes are to be created, on ids that are new or of which nothing exists.
func (p *Plan) Creates() bool {
	return slices.ContainsFunc(p.Pools, Assignment.creates)
}

func (a Assignment) creates() bool { return len(a.Added)+len(a.Pending) > 0 }

// Withhold returns the plan without the nodes that it would create. Pools with controllers are left as planned. The reason says
// what the assignment waits for, in a warning for each pool; an empty one makes none.
func (p *Plan) Withhold(pools []Pool, reason string) Plan {
	out := Plan{Pools: slices.Clone(p.Pools), Refusal: p.Refusal, Warnings: slices.Clone(p.Warnings)}
	for i := range out.Pools {
		a := &out.Pools[i]
		if pools[i].Controllers || !a.creates() {
			continue
		}
		created := slices.Concat(a.Added, a.Pending)
		a.Withheld = len(created)
		if reason != "" {
			out.Warnings = append(out.Warnings, Warning{Pool: a.Pool, Reason: ReasonWithheld, Message: fmt.Sprintf(
				"KafkaNodePool %s does not get %d of its %d nodes yet: %s", a.Pool, a.Withheld, len(a.Wanted), reason)})
		}
		a.Wanted = slices.DeleteFunc(slices.Clone(a.Wanted), func(id int32) bool { return slices.Contains(created, id) })
		a.Added, a.Pending = nil, nil
	}
	return out
}

// Reserved are ids that a new node does not get.
type Reserved struct {
	// Remembered ids are not added: records, disks or a status of the cluster hold them.
	Remembered []int32
	// Known ids are not added either, and no node is created on one that a pool's status lists: Kafka knows them, or a disk was
	// kept under them.
	Known []int32
}

// Assign decides. Reserved ids are not assigned.
//
// Pools share one number line. New ids come from the pool's own list in order, then from the lowest free one; ids go in the
// order of the pool's list, then from the highest. The lists count only while the pool grows or shrinks. The rules are the
// ones that Strimzi's users know.
func Assign(pools []Pool, reserved Reserved) Plan {
	plan := Plan{Pools: make([]Assignment, 0, len(pools))}
	used := map[int32]bool{}
	for _, id := range slices.Concat(reserved.Remembered, reserved.Known) {
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
		plan.Pools = append(plan.Pools, plan.assign(&pools[i], used, reserved.Known))
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
func (p *Plan) assign(pool *Pool, used map[int32]bool, known []int32) Assignment {
	next := p.list(pool, pool.Next, "strimzi.io/next-node-ids")
	remove := p.list(pool, pool.Remove, "strimzi.io/remove-node-ids")
	staying, leaving, unproven := split(pool)
	change := p.replicas(pool, len(staying)) - len(staying)
	a := Assignment{Pool: pool.Name}
	switch {
	case change != 0 && p.Refusal != "":
	case change != 0 && pool.Frozen != "":
		p.Warnings = append(p.Warnings, Warning{Pool: pool.Name, Reason: ReasonFrozen, Message: fmt.Sprintf(
			"KafkaNodePool %s stays at %d nodes and does not go to %d: %s", pool.Name, len(staying), pool.Replicas, pool.Frozen)})
	case change > 0:
		back := leaving[:min(change, len(leaving))]
		staying, leaving = append(staying, back...), leaving[len(back):]
		free := slices.DeleteFunc(unproven, func(id int32) bool { return slices.Contains(known, id) })
		a.Pending = free[:min(change-len(back), len(free))]
		a.Added = take(next, change-len(back)-len(a.Pending), used)
		staying = slices.Concat(staying, a.Pending, a.Added)
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

// replicas of the pool, as far as a pool may have them. A pool that has more keeps them.
func (p *Plan) replicas(pool *Pool, have int) int {
	most := max(MaxReplicas, have)
	if pool.Replicas <= most {
		return pool.Replicas
	}
	p.Warnings = append(p.Warnings, Warning{Pool: pool.Name, Reason: ReasonTooMany, Message: fmt.Sprintf(
		"KafkaNodePool %s declares %d replicas and gets %d, the most that a pool may have: lower spec.replicas", pool.Name, pool.Replicas, most)})
	return most
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

// split parts the ids of a pool, all in ascending order and none twice.
func split(pool *Pool) (staying, leaving, unproven []int32) {
	ids := slices.Clone(pool.IDs)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		switch {
		case slices.Contains(pool.Unproven, id):
			unproven = append(unproven, id)
		case slices.Contains(pool.Leaving, id):
			leaving = append(leaving, id)
		default:
			staying = append(staying, id)
		}
	}
	return staying, leaving, unproven
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
