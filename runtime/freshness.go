package runtime

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// freshnessTimeout is how long a cache may be behind our last write before a live read replaces waiting for the cache.
const freshnessTimeout = time.Second

// freshnessRequeue is the delay after which a reconcile that met a stale cache is requeued, unless a watch event comes first.
const freshnessRequeue = 200 * time.Millisecond

// proof is the result of the check that the persisted state in the cache is current.
type proof struct {
	// current permits actions.
	current bool
	// live means that the API server was read for it.
	live bool
	// again is the delay until the next attempt while current is false.
	again time.Duration
}

// prove ensures that an action runs only on a persisted state that is current. Either the cache shows our last write or a later
// one, or, when no such write is known (after a start, after gaining the lease, after a write of unknown outcome), a live read
// returns the revision of the cache. demandLive requires the live read in every case: a destructive effect must be part of the
// newest spec, which the cache may not hold yet.
func (r *Reconciler[O, S, E]) prove(ctx context.Context, object O, m *memory, now time.Time, demandLive bool) (proof, error) {
	cached, err := revision(object)
	if err != nil {
		return proof{}, err
	}
	if m.own != 0 && cached < m.own {
		if m.staleSince.IsZero() {
			m.staleSince = now
		}
		if now.Sub(m.staleSince) < freshnessTimeout {
			return proof{again: freshnessRequeue}, nil
		}
	} else if m.own != 0 && !demandLive {
		m.staleSince = time.Time{}
		return proof{current: true}, nil
	}
	live := r.kind.New()
	ctx, cancel := context.WithTimeout(ctx, r.kind.ObserveTimeout)
	defer cancel()
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
		if ObjectMissing(err) {
			return proof{}, errGone
		}
		return proof{}, fmt.Errorf("proving the persisted state current with a live read: %w", err)
	}
	if live.GetUID() != object.GetUID() {
		return proof{}, errGone
	}
	newest, err := revision(live)
	if err != nil {
		return proof{}, err
	}
	m.own, m.staleSince = newest, time.Time{}
	if newest == cached { // the revision of one object never repeats
		return proof{current: true, live: true}, nil
	}
	m.staleSince = now
	return proof{again: freshnessRequeue}, nil
}

// revision returns the resourceVersion as a number. The API conventions permit to compare the versions of one kind as numbers
// since Kubernetes 1.35; every API server on etcd issued increasing numbers before.
func revision(object client.Object) (uint64, error) {
	text := object.GetResourceVersion()
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading resourceVersion %q of %s/%s: %w", text, object.GetNamespace(), object.GetName(), err)
	}
	return n, nil
}
