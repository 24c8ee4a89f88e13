package runtime

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// barrierPatience is how long a cache may be behind our own write before a live read replaces waiting.
const barrierPatience = time.Second

// barrierPause is when a pass that met a cache behind our own write is taken again, unless a watch event comes first.
const barrierPause = 200 * time.Millisecond

// proof says whether the bookmark in the cache is known to be current.
type proof struct {
	// current permits acting.
	current bool
	// live says that the API server itself was asked.
	live bool
	// again is when to try again.
	again time.Duration
}

// prove makes sure that an action runs only on a bookmark that is current: our own last write was seen or, when there is
// no such write (after a start, after gaining the lease, after a write of unknown outcome), a live read agrees with the cache.
// demandLive asks for the live read in any case: what is destroyed must be wanted destroyed by the newest spec, not by the cache's.
func (r *Reconciler[O, V, E]) prove(ctx context.Context, object O, m *memory, now time.Time, demandLive bool) (proof, error) {
	cached, err := revision(object)
	if err != nil {
		return proof{}, err
	}
	if m.own != 0 && cached < m.own {
		if m.behindSince.IsZero() {
			m.behindSince = now
		}
		if now.Sub(m.behindSince) < barrierPatience {
			return proof{again: barrierPause}, nil
		}
	} else if m.own != 0 && !demandLive {
		m.behindSince = time.Time{}
		return proof{current: true}, nil
	}
	live := r.kind.New()
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
		if ObjectMissing(err) {
			return proof{}, errGone
		}
		return proof{}, fmt.Errorf("proving the bookmark current with a live read: %w", err)
	}
	if live.GetUID() != object.GetUID() {
		return proof{}, errGone
	}
	newest, err := revision(live)
	if err != nil {
		return proof{}, err
	}
	m.own, m.behindSince = newest, time.Time{}
	if newest == cached { // of one object: a revision is never given twice
		return proof{current: true, live: true}, nil
	}
	m.behindSince = now
	return proof{again: barrierPause}, nil
}

// revision compares resourceVersions as numbers, which the API conventions permit for one kind since Kubernetes 1.35
// and every server with etcd has done before.
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
