// Package fleet limits how many clusters roll their nodes at once.
package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/noderoll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// Lifecycle is the name of the lifecycle that needs a slot.
const Lifecycle = "roll"

// Slots limits how many clusters roll their nodes at once. A nil Slots limits nothing. It is safe for concurrent use.
//
// The holders of slots are derived from the cached statuses of all clusters: those whose roll has left AwaitingSlot and has not
// ended. The process remembers a granted slot until the cache shows the roll. A stale cache does not cause more rolls than Max in
// any other way either: slots are granted in the order of the queue, and a cluster gets one only if all clusters ahead of it fit
// in as well, whether or not they roll already.
type Slots struct {
	// Max is the maximum number of clusters that roll at once. Required, above 0.
	Max int
	// Clusters reads all clusters of this manager, from the cache. Required.
	Clusters client.Reader

	mu sync.Mutex
	// granted are slots that the cache does not show yet, by the attempt to which they were granted.
	granted map[types.UID]grant
	// last is the queue as it was last read; nil after a change.
	last *queue
}

// grant identifies the attempt that has got a slot.
type grant struct {
	attempt string
	since   time.Time
}

// queue are the clusters that hold a slot and those that wait for one.
type queue struct {
	// holders are sorted: impeded ones first, then by name.
	holders []noderoll.Holder
	// waiting clusters in the order in which they get a slot.
	waiting []*kafkav1beta2.Kafka
	// position in waiting by UID, from 1.
	position map[types.UID]int
}

// Slot returns the position of one cluster. It grants a free slot to a cluster in AwaitingSlot that is next in the queue. Any
// other cluster at rest or in the queue gets the position that it has or would have. A cluster that rolls keeps its slot.
func (s *Slots) Slot(ctx context.Context, kafka *kafkav1beta2.Kafka) (noderoll.Slot, error) {
	if s == nil {
		return noderoll.Slot{}, nil
	}
	use := useOf(kafka)
	if use == holds {
		return noderoll.Slot{}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.read(ctx)
	if err != nil {
		return noderoll.Slot{}, err
	}
	position := q.position[kafka.UID]
	if use == waits && (position == 0 || position <= s.free(q)) {
		s.last = nil // a grant requires the newest state of the cache
		if q, err = s.read(ctx); err != nil {
			return noderoll.Slot{}, err
		}
		position = q.position[kafka.UID]
		if s.isGranted(kafka) {
			return noderoll.Slot{}, nil
		}
		if position > 0 && position <= s.free(q) {
			s.granted[kafka.UID], s.last = grantOf(kafka), nil
			return noderoll.Slot{}, nil
		}
	}
	if position == 0 {
		position = len(q.waiting) + 1
	}
	const named = 3
	return noderoll.Slot{
		Position: position, MaxActive: s.Max, Taken: len(q.holders), Holders: q.holders[:min(len(q.holders), named)],
	}, nil
}

// Fact returns the result of Slot as a fact.
func (s *Slots) Fact(ctx context.Context, kafka *kafkav1beta2.Kafka, now time.Time) transitions.Fact[noderoll.Slot] {
	slot, err := s.Slot(ctx, kafka)
	if err != nil {
		return transitions.Unreadable[noderoll.Slot](err)
	}
	return transitions.Known(slot, now)
}

// Changed processes a change of a cluster; before is nil for a new one and after for a deleted one. It returns the clusters to
// reconcile because they may get a free slot. There are none unless the change may have freed a slot or moved the queue.
func (s *Slots) Changed(ctx context.Context, before, after *kafkav1beta2.Kafka) []reconcile.Request {
	was, is := fleetEntryOf(before), fleetEntryOf(after)
	if was == is {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = nil
	if was.use == none || was.use == is.use && was.grant == is.grant {
		return nil
	}
	q, err := s.read(ctx)
	if err != nil {
		return nil // each cluster in the queue polls
	}
	var out []reconcile.Request
	for _, k := range q.waiting[:min(len(q.waiting), s.free(q))] {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(k)})
	}
	return out
}

// isGranted reports whether the attempt in which the cluster waits already has a slot. The caller holds s.mu.
func (s *Slots) isGranted(k *kafkav1beta2.Kafka) bool {
	granted, ok := s.granted[k.UID]
	return ok && granted == grantOf(k)
}

func (s *Slots) free(q *queue) int { return max(0, s.Max-len(q.holders)) }

// read lists holders and queue, unless nothing changed since the last read. It drops grants that the cache shows, and those of
// clusters that left the queue. The caller holds s.mu.
func (s *Slots) read(ctx context.Context) (*queue, error) {
	if s.last != nil {
		return s.last, nil
	}
	var all kafkav1beta2.KafkaList
	if err := s.Clusters.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the clusters that roll: %w", err)
	}
	pending := map[types.UID]grant{}
	q := &queue{position: map[types.UID]int{}}
	for i := range all.Items {
		k := &all.Items[i]
		e := fleetEntryOf(k)
		if e.use == waits && s.isGranted(k) {
			pending[k.UID] = grantOf(k)
			e.use = holds
		}
		switch e.use {
		case none:
		case waits:
			q.waiting = append(q.waiting, k)
		case holds:
			q.holders = append(q.holders, noderoll.Holder{Cluster: k.Namespace + "/" + k.Name, Impeded: e.impeded})
		}
	}
	q.sort()
	s.granted, s.last = pending, q
	return q, nil
}

func (q *queue) sort() {
	slices.SortFunc(q.holders, func(a, b noderoll.Holder) int {
		if (a.Impeded == noderoll.NotImpeded) != (b.Impeded == noderoll.NotImpeded) {
			return cmp.Compare(b.Impeded, a.Impeded)
		}
		return cmp.Compare(a.Cluster, b.Cluster)
	})
	slices.SortFunc(q.waiting, func(a, b *kafkav1beta2.Kafka) int {
		return cmp.Or(grantOf(a).since.Compare(grantOf(b).since), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for i, k := range q.waiting {
		q.position[k.UID] = i + 1
	}
}

// use is how a cluster uses slots.
type use uint8

const (
	none use = iota
	waits
	holds
)

// fleetEntry is all that the queue depends on in a cluster.
type fleetEntry struct {
	use     use
	grant   grant
	impeded noderoll.Impediment
}

// fleetEntryOf returns the entry of a cluster; nil means that it does not exist. A cluster that is being deleted needs no slot,
// and one that is paused waits for none. One that is paused or stalled in the middle of its roll keeps its slot: what stopped it may stop the next one
// too.
func fleetEntryOf(k *kafkav1beta2.Kafka) fleetEntry {
	if k == nil || k.DeletionTimestamp != nil {
		return fleetEntry{}
	}
	s := fleetEntry{use: useOf(k), grant: grantOf(k)}
	paused := lifecycle.IsPaused(k, labels.Pauses()...)
	switch {
	case s.use == none, s.use == waits && paused:
		return fleetEntry{}
	case s.use == waits:
	case paused:
		s.impeded = noderoll.Paused
	case meta.IsStatusConditionTrue(k.Status.Conditions, lifecycle.Stalled):
		s.impeded = noderoll.Stalled
	}
	return s
}

func useOf(k *kafkav1beta2.Kafka) use {
	e := entryOfRoll(k)
	switch {
	case e == nil, e.State == noderoll.Settled:
		return none
	case e.State == noderoll.AwaitingSlot:
		return waits
	}
	return holds
}

// grantOf identifies the attempt in which a cluster in the queue waits.
func grantOf(k *kafkav1beta2.Kafka) grant {
	if e := entryOfRoll(k); e != nil && e.Attempt != nil {
		return grant{attempt: e.Attempt.ID, since: e.Attempt.StartedAt.UTC()}
	}
	return grant{since: k.CreationTimestamp.UTC()}
}

func entryOfRoll(k *kafkav1beta2.Kafka) *lifecyclev1.Lifecycle {
	for i := range k.Status.Lifecycles {
		if e := &k.Status.Lifecycles[i]; e.Name == Lifecycle {
			return e
		}
	}
	return nil
}
