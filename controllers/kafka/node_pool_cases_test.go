package kafka

import (
	"fmt"
	"testing"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/facts"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/test/cases"
)

// poolsGiven is a cluster of a case: its pools, or one pool with several disks, or where cluster ids are found.
type poolsGiven struct {
	Pools    []any   `json:"pools"`
	Disks    int32   `json:"disks"`
	From     string  `json:"from"`
	To       string  `json:"to"`
	Metadata string  `json:"metadata"`
	Kafka    *string `json:"kafka"`
}

type poolsOutcome struct {
	Valid     bool          `json:"valid"`
	Error     cases.Failure `json:"error"`
	ClusterID string        `json:"cluster_id"`
}

// oldVersions are supported, so that the disks alone decide.
const oldVersions = `
- {version: 3.6.0, supported: true, metadata: "3.6"}
- {version: 3.7.0, supported: true, metadata: "3.7"}
- {version: 4.3.1, supported: true, metadata: 4.3-IV0, default: true}
`

func TestVersionCasesOfNodePools(t *testing.T) {
	differences := map[string]cases.Difference[poolsOutcome]{
		"cluster id sources": {
			Want: poolsOutcome{Error: true}, Page: "0203",
			Why: "two statuses with two ids are two clusters: nothing is created before a user has decided, and the message names both",
		},
	}
	table, err := versions.Parse([]byte(oldVersions), "the cases")
	if err != nil {
		t.Fatal(err)
	}
	cases.RunStrimzi(t, "node-pools.yaml", "node-pool-validation", differences, func(t *testing.T, g poolsGiven, want poolsOutcome) poolsOutcome {
		var r *rig
		switch {
		case g.Disks > 0:
			r = g.withDisks(t)
		case want.ClusterID != "":
			r = g.withClusterIDs(t)
		default:
			r = g.withPools(t)
		}
		r.collector.Table = table
		v := r.snapshot(false)
		out := poolsOutcome{Error: cases.Failure(specErrorOf(r.cluster(), v) != nil)}
		if want.ClusterID == "" {
			out.Valid = !bool(out.Error)
			return out
		}
		if out.ClusterID = v.Identity.ID; len(out.ClusterID) == 22 && want.ClusterID == "generated" {
			out.ClusterID = "generated"
		}
		return out
	})
}

func (g *poolsGiven) withPools(t *testing.T) *rig {
	t.Helper()
	var pools []*kafkav1beta2.KafkaNodePool
	for i, given := range g.Pools {
		fields, ok := given.(map[string]any)
		if !ok {
			t.Fatalf("pool %v", given)
		}
		p := declaredPool(fmt.Sprint("pool-", i), int32(fields["replicas"].(float64)))
		for _, role := range fields["roles"].([]any) {
			p.Spec.Roles = append(p.Spec.Roles, kafkav1beta2.NodeRole(role.(string)))
		}
		pools = append(pools, p)
	}
	return declared(t, nil, pools...)
}

// withDisks is a cluster that ran, and whose spec keeps the metadata version of the case.
func (g *poolsGiven) withDisks(t *testing.T) *rig {
	t.Helper()
	p := declaredPool("dual", 3, kafkav1beta2.RoleController, kafkav1beta2.RoleBroker)
	p.Spec.Storage = jbod(g.Disks, kafkav1beta2.VolumePersistentClaim)
	return declared(t, func(k *kafkav1beta2.Kafka) {
		k.Spec.Kafka.Version, k.Spec.Kafka.MetadataVersion = g.To, g.Metadata
		k.Status.KafkaVersion, k.Status.KafkaMetadataVersion = g.From, g.Metadata
	}, p)
}

func (g *poolsGiven) withClusterIDs(t *testing.T) *rig {
	t.Helper()
	pools := []*kafkav1beta2.KafkaNodePool{declaredPool("c", 3, kafkav1beta2.RoleController)}
	for i, id := range g.Pools {
		p := declaredPool(fmt.Sprint("pool-", i), 3, kafkav1beta2.RoleBroker)
		p.Status.ClusterID, _ = id.(string)
		pools = append(pools, p)
	}
	return declared(t, func(k *kafkav1beta2.Kafka) {
		if g.Kafka != nil {
			k.Status.ClusterID = *g.Kafka
		}
	}, pools...)
}

// Brokers with several disks wait for the metadata version, and do not prevent it from being raised.
func TestNodeRollWaitsForTheMetadataVersionOfSeveralDisks(t *testing.T) {
	for name, tc := range map[string]struct {
		disks        int32
		pinned, runs string
		roles        []kafkav1beta2.NodeRole
		version      bool
		nodes        bool
	}{
		"the spec raises the level":       {disks: 2, runs: "3.6-IV2", nodes: true},
		"the spec keeps the level":        {disks: 2, runs: "3.6-IV2", pinned: "3.6-IV2", version: true, nodes: true},
		"a new cluster at a pinned level": {disks: 2, pinned: "3.7-IV1", version: true, nodes: true},
		"the lowest level":                {disks: 2, runs: "3.7-IV2", pinned: "3.7-IV2"},
		"one disk":                        {disks: 1, runs: "3.6-IV2", pinned: "3.6-IV2"},
		"controllers start at every level": {
			disks: 2, runs: "3.6-IV2", pinned: "3.6-IV2", roles: []kafkav1beta2.NodeRole{kafkav1beta2.RoleController},
		},
	} {
		t.Run(name, func(t *testing.T) {
			roles := tc.roles
			if roles == nil {
				roles = []kafkav1beta2.NodeRole{kafkav1beta2.RoleBroker}
			}
			p := declaredPool("many", 3, roles...)
			p.Spec.Storage = jbod(tc.disks, kafkav1beta2.VolumePersistentClaim)
			r := declared(t, func(k *kafkav1beta2.Kafka) {
				k.Spec.Kafka.Version, k.Spec.Kafka.MetadataVersion, k.Status.KafkaMetadataVersion = "3.9.2", tc.pinned, tc.runs
			}, p, declaredPool("dual", 3, kafkav1beta2.RoleController, kafkav1beta2.RoleBroker))
			k, v := r.cluster(), r.snapshot(false)
			if got := specErrorOf(k, v); (got != nil) != tc.version {
				t.Errorf("the version change is refused for %q, want refused: %t", message(got), tc.version)
			}
			if got := facts.NodeRoll(k, v, machines.ObserveOptions{}).SpecError; (got != nil) != tc.nodes {
				t.Errorf("the roll is refused for %q, want refused: %t", message(got), tc.nodes)
			}
		})
	}
}
