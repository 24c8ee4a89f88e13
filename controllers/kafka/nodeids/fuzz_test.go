package nodeids

import (
	"slices"
	"testing"
	"time"
)

// Annotations are free text, and what they name must neither take an id from another node nor cost time by its size.
func FuzzAssign(f *testing.F) {
	f.Add("[0-2147483647]", "[2147483647-0]", []byte{0, 1, 2}, []byte{3, 4}, []byte{5}, byte(5), byte(1))
	f.Add("[ 7 - 5, 7 ]", "[1", []byte{}, []byte{0}, []byte{0}, byte(3), byte(0))
	f.Add("[5-]", "[9-0, 3]", []byte{9, 9, 1}, []byte{9}, []byte{}, byte(0), byte(9))
	f.Fuzz(func(t *testing.T, next, remove string, ids, others, reserved []byte, replicas, replicasOfOthers byte) {
		pools := []Pool{
			{Name: "a", Replicas: int(replicas), IDs: wide(ids), Unproven: wide(ids[:len(ids)/3]), Next: next, Remove: remove},
			{Name: "b", Replicas: int(replicasOfOthers), IDs: wide(others), Leaving: wide(others[:len(others)/2]), Next: remove, Remove: next},
		}
		begun := time.Now()
		plan := Assign(pools, Reserved{Remembered: wide(reserved)})
		if took := time.Since(begun); took > 5*time.Second {
			t.Fatalf("took %s", took)
		}
		checkPlan(t, pools, wide(reserved), &plan)
	})
}

func wide(ids []byte) []int32 {
	out := make([]int32, len(ids))
	for i, id := range ids {
		out[i] = int32(id)
	}
	return out
}

// fatal is what a test and a property have in common.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkPlan holds what is true of every assignment.
func checkPlan(t fatal, pools []Pool, reserved []int32, plan *Plan) {
	t.Helper()
	holder := map[int32]string{}
	for i := range pools {
		p, a := &pools[i], plan.Pools[i]
		for _, id := range slices.Concat(a.Wanted, a.Removed) {
			if other, taken := holder[id]; taken && plan.Refusal == nil {
				t.Fatalf("node id %d is of %s and of %s", id, other, p.Name)
			}
			holder[id] = p.Name
			if id < 0 {
				t.Fatalf("pool %s has the node id %d", p.Name, id)
			}
			if slices.Contains(p.Unproven, id) != slices.Contains(a.Pending, id) {
				t.Fatalf("pool %s: %d among %+v, and only a status lists %v", p.Name, id, a, p.Unproven)
			}
			if fresh := !slices.Contains(p.IDs, id); fresh != slices.Contains(a.Added, id) || fresh && slices.Contains(reserved, id) {
				t.Fatalf("pool %s: %d among %v, of %v and without %v", p.Name, id, a, p.IDs, reserved)
			}
		}
		for _, id := range p.IDs {
			if !slices.Contains(p.Unproven, id) && !slices.Contains(a.Wanted, id) && !slices.Contains(a.Removed, id) {
				t.Fatalf("pool %s forgets node %d", p.Name, id)
			}
		}
		if len(a.Pending) > 0 && len(a.Removed) > len(p.Leaving) {
			t.Fatalf("pool %s: %v displace %v", p.Name, a.Pending, a.Removed)
		}
		if plan.Refusal == nil && p.Frozen == nil && len(a.Wanted) != p.Replicas {
			t.Fatalf("pool %s gets %v, and wants %d nodes", p.Name, a.Wanted, p.Replicas)
		}
		if !slices.IsSorted(a.Wanted) || !slices.IsSorted(a.Removed) || !slices.IsSorted(a.Added) {
			t.Fatalf("pool %s is not in order: %+v", p.Name, a)
		}
	}
}
