// Package nodeids assigns node ids to the pools of a Kafka cluster. It is a pure function of the existing and the desired nodes.
// An id is part of the names of a node's disks and of its registration with Kafka, so it stays with its node. No id is given to a
// second node while anything of the first is left.
package nodeids

import (
	"fmt"
	"slices"
	"strings"

	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/transitions"
)

// Pool is one pool of a cluster.
type Pool struct {
	Name string
	// Replicas is the desired number of nodes.
	Replicas int
	// IDs that exist: the union of all sources of ids.
	IDs []int32
	// Leaving are the ids of IDs that were already chosen for removal. A scale-up reuses them before it assigns new ids.
	Leaving []int32
	// Unproven are the ids of IDs that the pool's status lists and of which nothing exists. Either the node of an assigned id is
	// not created yet, or a user edited the status. They never displace a node that exists.
	Unproven []int32
	// Next and Remove are the annotations with the ids to add and to remove first.
	Next, Remove string
	// Frozen is why the pool may neither grow nor shrink: it holds controllers of a static quorum. Nil if it may.
	Frozen *transitions.Problem
	// Controllers is true if the pool's nodes are controllers. Kafka cannot answer before they run, so their ids are not withheld
	// until it does.
	Controllers bool
}

// Assignment is the result for one pool. All lists are sorted in ascending order.
type Assignment struct {
	Pool string
	// Wanted ids: existing ids that stay, Pending ids and Added ids.
	Wanted []int32
	// Pending ids are Unproven ids whose nodes are to be created.
	Pending []int32
	// Added ids are new.
	Added []int32
	// Removed ids exist and are no longer desired, including those chosen earlier.
	Removed []int32
	// Withheld is the number of nodes that are not created yet because the free ids are not known.
	Withheld int
}

// Warning is information for users that does not stop the reconcile.
type Warning struct {
	Pool, Reason, Message string
}

// Reasons of warnings.
const (
	// ReasonInvalidRange: an annotation is not a list of ids and is ignored.
	ReasonInvalidRange = "InvalidNodeIDs"
	// ReasonFrozen: a change of replicas is refused.
	ReasonFrozen = "ReplicasCannotChange"
	// ReasonTooMany: the spec has more replicas than a pool may have.
	ReasonTooMany = "TooManyReplicas"
	// ReasonWithheld: ids are not assigned before it is known which ones Kafka uses.
	ReasonWithheld = "NodeIDsNotAssigned"
	// ReasonRefused: two pools have the same id.
	ReasonRefused = "NodeIDsRefused"
)

// MaxReplicas is the maximum of the schema. It limits the cost of an assignment: an object that was stored under another schema
// may have any number.
const MaxReplicas = 1000

// Plan is the assignment for all pools of a cluster.
type Plan struct {
	// Pools in the order given.
	Pools []Assignment
	// Refusal names two pools with the same id; nil if there are none. With a refusal nothing is added or removed.
	Refusal  *transitions.Problem
	Warnings []Warning
}

// Of returns the assignment of the pool; empty for an unknown pool.
func (p *Plan) Of(pool string) Assignment {
	for i := range p.Pools {
		if p.Pools[i].Pool == pool {
			return p.Pools[i]
		}
	}
	return Assignment{Pool: pool}
}

// Changes reports whether an id is added.
func (p *Plan) Changes() bool {
	return slices.ContainsFunc(p.Pools, func(a Assignment) bool { return len(a.Added) > 0 })
}

// Creates reports whether nodes are to be created, on new ids or on Pending ones.
func (p *Plan) Creates() bool {
	return slices.ContainsFunc(p.Pools, Assignment.creates)
}

func (a Assignment) creates() bool { return len(a.Added)+len(a.Pending) > 0 }

// Withhold returns the plan without the nodes that it would create. Pools with controllers are unchanged. The problem is what the
// assignment waits for and is part of a warning for each pool; nil gives no warning.
func (p *Plan) Withhold(pools []Pool, problem *transitions.Problem) Plan {
	out := Plan{Pools: slices.Clone(p.Pools), Refusal: p.Refusal, Warnings: slices.Clone(p.Warnings)}
	for i := range out.Pools {
		a := &out.Pools[i]
		if pools[i].Controllers || !a.creates() {
			continue
		}
		created := slices.Concat(a.Added, a.Pending)
		a.Withheld = len(created)
		if problem != nil {
			out.Warnings = append(out.Warnings, Warning{Pool: a.Pool, Reason: string(problem.Reason), Message: fmt.Sprintf(
				"KafkaNodePool %s does not get %d of its %d nodes yet: %s", a.Pool, a.Withheld, len(a.Wanted), problem.Message)})
		}
		a.Wanted = slices.DeleteFunc(slices.Clone(a.Wanted), func(id int32) bool { return slices.Contains(created, id) })
		a.Added, a.Pending = nil, nil
	}
	return out
}

// Reserved are ids that a new node must not get.
type Reserved struct {
	// Remembered ids are in records, on disks or in a status of the cluster. They are not added.
	Remembered []int32
	// Known ids are known to Kafka, or a disk was kept under them. They are not added, and no node is created on one that a pool's
	// status lists.
	Known []int32
}

// Assign computes the assignment. Reserved ids are not assigned.
//
// All pools share one range of ids. New ids are taken from the pool's own list in order, then from the lowest free id. Ids are
// removed in the order of the pool's list, then from the highest. The lists are used only while the pool grows or shrinks. The
// rules are those of Strimzi.
func Assign(pools []Pool, reserved Reserved) Plan {
	plan := Plan{Pools: make([]Assignment, 0, len(pools))}
	used := map[int32]bool{}
	for _, id := range slices.Concat(reserved.Remembered, reserved.Known) {
		used[id] = true
	}
	owner := map[int32]string{}
	for i := range pools {
		for _, id := range pools[i].IDs {
			if other, taken := owner[id]; taken && other != pools[i].Name && plan.Refusal == nil {
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

func twice(id int32, a, b string) *transitions.Problem {
	names := []string{a, b}
	slices.Sort(names)
	return transitions.Problemf(ReasonRefused, "node id %d is in the KafkaNodePools %s: remove it from status.nodeIds of the one whose node it is not (kubectl edit kafkanodepool <name> --subresource=status); "+
		"nothing is added or removed until then", id, strings.Join(names, " and "))
}

// assign computes the assignment of one pool and marks its ids as used.
func (p *Plan) assign(pool *Pool, used map[int32]bool, known []int32) Assignment {
	next := p.list(pool, pool.Next, labels.NextNodeIDs)
	remove := p.list(pool, pool.Remove, labels.RemoveNodeIDs)
	staying, leaving, unproven := split(pool)
	change := p.replicas(pool, len(staying)) - len(staying)
	a := Assignment{Pool: pool.Name}
	switch {
	case change != 0 && p.Refusal != nil:
	case change != 0 && pool.Frozen != nil:
		p.Warnings = append(p.Warnings, Warning{Pool: pool.Name, Reason: string(pool.Frozen.Reason), Message: fmt.Sprintf(
			"KafkaNodePool %s stays at %d nodes and does not go to %d: %s: set spec.replicas back to %d", pool.Name, len(staying), pool.Replicas, pool.Frozen.Message, len(staying))})
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

// replicas returns the pool's replicas, limited to the maximum. A pool that has more keeps them.
func (p *Plan) replicas(pool *Pool, have int) int {
	most := max(MaxReplicas, have)
	if pool.Replicas <= most {
		return pool.Replicas
	}
	p.Warnings = append(p.Warnings, Warning{Pool: pool.Name, Reason: ReasonTooMany, Message: fmt.Sprintf(
		"KafkaNodePool %s declares %d replicas and gets %d, the most that a pool may have: lower spec.replicas", pool.Name, pool.Replicas, most)})
	return most
}

// list parses an annotation. One that is invalid or has no id is ignored with a warning; an empty text is no annotation.
func (p *Plan) list(pool *Pool, text, name string) ranges {
	r, err := parse(text)
	if err == nil && text != "" && len(r) == 0 {
		err = fmt.Errorf("%q has no node id: remove the annotation, or write it such as [0, 5-9]", text)
	}
	if err != nil {
		p.Warnings = append(p.Warnings, Warning{Pool: pool.Name, Reason: ReasonInvalidRange, Message: fmt.Sprintf(
			"KafkaNodePool %s: annotation %s is ignored: %s", pool.Name, name, err)})
	}
	return r
}

// split divides the ids of a pool. The results are sorted and have no duplicates.
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

// take returns n unused ids, sorted in ascending order.
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

// choose returns n of the ids, which are sorted in ascending order: by the list, then from the highest.
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
