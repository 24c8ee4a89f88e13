package status

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/nodeids"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// PoolsCommitted reports whether the statuses of all pools, written for this cluster, contain every existing id.
func PoolsCommitted(k *kafkav1beta2.Kafka, v *observation.Snapshot) bool {
	for _, pool := range v.Objects.Pools {
		if ids, _ := observation.OfPoolStatus(k, pool); len(missing(ids, existing(v, pool.Name))) > 0 {
			return false
		}
	}
	return true
}

// existing returns the ids of a pool's nodes.
func existing(v *observation.Snapshot, pool string) []int32 {
	var ids []int32
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Pool == pool {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

func missing(have, want []int32) []int32 {
	var out []int32
	for _, id := range want {
		if !slices.Contains(have, id) {
			out = append(out, id)
		}
	}
	return out
}

// OfPool returns the desired status of a pool. It shares lists with the status that the pool has.
func OfPool(k *kafkav1beta2.Kafka, v *observation.Snapshot, pool *kafkav1beta2.KafkaNodePool, adding bool) *kafkav1beta2.KafkaNodePoolStatus {
	s := pool.Status
	s.NodeIDs, s.ClusterID = observation.OfPoolStatus(k, pool)
	s.NodeIDs = withoutReleased(s.NodeIDs, v)
	present := existing(v, pool.Name)
	more := missing(s.NodeIDs, present)
	if adding {
		more = append(more, v.IDs.Of(pool.Name).Added...)
	}
	if len(more) > 0 || !slices.IsSorted(s.NodeIDs) {
		s.NodeIDs = slices.Concat(s.NodeIDs, more)
		slices.Sort(s.NodeIDs)
	}
	s.Roles = poolRoles(v, pool)
	s.Replicas = int32(len(present))
	s.LabelSelector = poolSelector(k.Name, pool.Name)
	if v.Identity.Mismatch == nil {
		s.ClusterID = v.Identity.ID
	}
	s.ObservedGeneration = pool.Generation
	s.Conditions = poolConditions(k, v, pool)
	return &s
}

// poolSelector returns the selector of a pool's pods, with the labels sorted by name.
func poolSelector(cluster, pool string) string {
	return labels.Cluster + "=" + cluster + "," + labels.Kind + "=" + labels.KindKafka + "," +
		labels.Name + "=" + labels.KafkaName(cluster) + "," + labels.Pool + "=" + pool
}

// poolRoles returns the roles of the pool's nodes; before it has nodes, those in its spec.
func poolRoles(v *observation.Snapshot, pool *kafkav1beta2.KafkaNodePool) []kafkav1beta2.NodeRole {
	var all observation.Roles
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Pool == pool.Name {
			all.Controller, all.Broker = all.Controller || n.Roles.Controller, all.Broker || n.Roles.Broker
		}
	}
	if all == (observation.Roles{}) {
		return slices.Clone(pool.Spec.Roles)
	}
	return all.List()
}

// poolConditions returns the conditions of a pool: whether its nodes are exactly the desired ones and ready, and warnings.
func poolConditions(k *kafkav1beta2.Kafka, v *observation.Snapshot, pool *kafkav1beta2.KafkaNodePool) []metav1.Condition {
	var down []string
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Pool == pool.Name && n.Wanted && !n.Pod.Ready {
			down = append(down, n.PodName)
		}
	}
	left, ids := unsupportedChangesIn(v, pool), v.IDs.Of(pool.Name)
	c := metav1.Condition{Type: lifecycle.Ready, Status: metav1.ConditionTrue, Reason: "NodesReady", Message: "every wanted node is ready"}
	switch {
	case v.IDs.Refusal != nil:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, string(v.IDs.Refusal.Reason), v.IDs.Refusal.Message
	case len(ids.Added)+ids.Withheld > 0:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, "NodesNotReady", "new nodes are being made"
	case len(down) > 0:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, "NodesNotReady", "not ready: "+roll.Names(down)
	case len(left) > 0:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, left[0].Reason, left[0].Message
	}
	out := append([]metav1.Condition{c}, poolWarnings(k, v, pool, left)...)
	for i := range out {
		out[i].ObservedGeneration = pool.Generation
		out[i].LastTransitionTime = metav1.NewTime(v.Now.UTC().Truncate(time.Second))
		for _, old := range pool.Status.Conditions {
			if old.Type == out[i].Type && old.Status == out[i].Status && (old.Reason == out[i].Reason || old.Type != lifecycle.Warning) {
				out[i].LastTransitionTime = old.LastTransitionTime
			}
		}
	}
	return out
}

// PoolEqual compares the fields that OfPool sets.
func PoolEqual(a, b *kafkav1beta2.KafkaNodePoolStatus) bool {
	return slices.Equal(a.NodeIDs, b.NodeIDs) && slices.Equal(a.Roles, b.Roles) && a.Replicas == b.Replicas && a.ClusterID == b.ClusterID &&
		a.LabelSelector == b.LabelSelector && a.ObservedGeneration == b.ObservedGeneration &&
		slices.EqualFunc(a.Conditions, b.Conditions, func(x, y metav1.Condition) bool {
			return x.Type == y.Type && x.Status == y.Status && x.Reason == y.Reason && x.Message == y.Message
		})
}

// poolWarnings returns the warnings about one pool for its own status: about its ids, about parts that are not applied, about
// storage that is not changed, and about unused fields.
func poolWarnings(k *kafkav1beta2.Kafka, v *observation.Snapshot, pool *kafkav1beta2.KafkaNodePool, left []nodeids.Warning) []metav1.Condition {
	w := warned{}
	for _, warning := range slices.Concat(v.IDs.Warnings, left) {
		if warning.Pool == pool.Name {
			w.add(warning.Reason, warning.Message)
		}
	}
	if p := keptStorage(v, pool); p != nil {
		w.add(string(p.Reason), p.Message)
	}
	if fields := observation.Derived(k, v, "unused fields of pools", unusedFieldsOfPools)[pool.Name]; len(fields) > 0 {
		w.add(ReasonUnusedField, unused(fields))
	}
	return w.conditions()
}

func unusedFieldsOfPools(declared *render.Input) map[string][]string {
	out := make(map[string][]string, len(declared.Pools))
	for i := range declared.Pools {
		out[declared.Pools[i].Name] = declared.Pools[i].Spec.UnusedFields()
	}
	return out
}
