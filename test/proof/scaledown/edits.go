package scaledown

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/machinetest/explore"
)

// wipePools empties the statuses of the pools.
func wipePools(at *explore.Scenario, w *World) {
	w.wiped = true
	var pools []*kafkav1beta2.KafkaNodePool
	at.Objects("KafkaNodePool", func(o client.Object) {
		if pool, ok := o.DeepCopyObject().(*kafkav1beta2.KafkaNodePool); ok {
			pool.Status = kafkav1beta2.KafkaNodePoolStatus{}
			pools = append(pools, pool)
		}
	})
	for _, pool := range pools {
		at.Update(pool)
	}
}

// edits are the changes of the pools by a user: any number of brokers, node 0 with and without the broker role, and the pool deleted
// and created again.
func (s *sight) edits() {
	wish := func(name string, next wanted) {
		if next != s.wanted && (next.dual || !next.deleted) {
			s.add(PoolEdited, func(at *explore.Scenario, w *World) { next.apply(at, w) }, "a user requests %s", name)
		}
	}
	for n := 1; n < nodes; n++ {
		wish(fmt.Sprintf("%d brokers besides node 0", n), wanted{workers: n, dual: s.wanted.dual})
	}
	next := s.wanted
	next.dual = !next.dual
	wish(fmt.Sprintf("that node 0 is a broker: %v", next.dual), next)
	if !s.wanted.deleted {
		wish("no pool of brokers", wanted{dual: s.wanted.dual, deleted: true})
	}
}

// apply changes the pools.
func (n wanted) apply(at *explore.Scenario, w *World) {
	w.wanted = n
	pools := map[string]*kafkav1beta2.KafkaNodePool{}
	at.Objects("KafkaNodePool", func(o client.Object) { pools[o.GetName()], _ = o.DeepCopyObject().(*kafkav1beta2.KafkaNodePool) })
	for _, pool := range n.pools() {
		have := pools[pool.Name]
		delete(pools, pool.Name)
		if have == nil {
			at.Create(pool)
			continue
		}
		have.Spec = pool.Spec
		at.Update(have)
	}
	for _, pool := range pools {
		at.Remove(pool)
	}
}
