package nodeids_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/detent-dev/detent/controllers/kafka/nodeids"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/test/cases"
	"github.com/detent-dev/detent/transitions"
)

const caseFile = "node-ids.yaml"

type givenPools struct {
	Pools []givenPool `json:"pools"`
}

// givenPool is a pool of a case. Was are the roles that its nodes had.
type givenPool struct {
	Replicas int                     `json:"replicas"`
	IDs      []int32                 `json:"ids"`
	Next     string                  `json:"next"`
	Remove   string                  `json:"remove"`
	Roles    []kafkav1beta2.NodeRole `json:"roles"`
	Was      []kafkav1beta2.NodeRole `json:"was"`
}

// pool is the pool as the operator assigns its ids. If it has controllers that exist, their number cannot change.
func (p *givenPool) pool(at int) nodeids.Pool {
	out := nodeids.Pool{Name: "pool-" + strconv.Itoa(at), Replicas: p.Replicas, IDs: p.IDs, Next: p.Next, Remove: p.Remove}
	out.Controllers = slices.Contains(p.Roles, kafkav1beta2.RoleController)
	if out.Controllers && len(p.IDs) > 0 {
		out.Frozen = transitions.Problemf(nodeids.ReasonFrozen, "a static quorum cannot change")
	}
	return out
}

// demoted are the wanted nodes that lose the broker role.
func (p *givenPool) demoted(wanted []int32) []int32 {
	var out []int32
	for _, id := range wanted {
		n := observation.Node{ID: id, Wanted: true, RolesWanted: observation.RolesOf(p.Roles), Recorded: slices.Contains(p.IDs, id), Record: record.Record{Roles: p.Was}}
		if n.Removal() == observation.Demoted {
			out = append(out, id)
		}
	}
	return out
}

type assigned struct {
	Desired []int32 `json:"desired"`
	Added   []int32 `json:"added"`
	Removed []int32 `json:"removed"`
	Demoted []int32 `json:"used_to_be_broker"`
}

// assignment is the outcome for all pools, or a refusal of the whole.
type assignment struct {
	Pools  []assigned
	Failed bool
}

// UnmarshalJSON reads a list of pools, or an error.
func (a *assignment) UnmarshalJSON(text []byte) error {
	a.Failed = text[0] != '['
	if a.Failed {
		return nil
	}
	return json.Unmarshal(text, &a.Pools)
}

func TestAssignCases(t *testing.T) {
	differences := map[string]cases.Difference[assignment]{
		"role removal with scale up counts only old nodes": {
			Want: assignment{Pools: []assigned{{Desired: []int32{0, 1, 2}, Demoted: []int32{0, 1, 2}}}},
			Why:  "the pool has controllers of a static quorum, which cannot get another one",
			Page: "0206",
		},
	}
	cases.RunStrimzi(t, caseFile, "node-ids", differences, func(_ *testing.T, given givenPools, _ assignment) assignment {
		var pools []nodeids.Pool
		for i := range given.Pools {
			pools = append(pools, given.Pools[i].pool(i))
		}
		plan := nodeids.Assign(pools, nodeids.Reserved{})
		if plan.Refusal != nil {
			return assignment{Failed: true}
		}
		var out assignment
		for i, a := range plan.Pools {
			out.Pools = append(out.Pools, assigned{Desired: a.Wanted, Added: a.Added, Removed: a.Removed, Demoted: given.Pools[i].demoted(a.Wanted)})
		}
		return out
	})
}

func TestAssignCasesOfGaps(t *testing.T) {
	type given struct {
		Used [][]int32 `json:"used"`
	}
	type expected struct {
		Next []int32 `json:"next"`
	}
	cases.RunStrimzi(t, caseFile, "node-id-gaps", nil, func(_ *testing.T, g given, _ expected) expected {
		var out expected
		for _, used := range g.Used {
			plan := nodeids.Assign([]nodeids.Pool{{Name: "a", Replicas: len(used) + 1, IDs: used}}, nodeids.Reserved{})
			out.Next = append(out.Next, plan.Pools[0].Added...)
		}
		return out
	})
}
