// Package garbage decides how much memory a manager spends on garbage that is not collected yet.
package garbage

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Tuner sets by how much the heap may grow before its garbage is collected. It is a Runnable of a manager.
//
// Most of a large heap of a manager is caches, which change little. A heap that may double takes twice the memory of the caches. A
// small heap that may only double is collected many times a second while the manager works.
type Tuner struct {
	// Live returns the size of the heap after its last collection, in bytes. Required.
	Live func() uint64
	// Set sets the growth in percent. Required.
	Set func(percent int)
	// Clock that the heap is read by. Required.
	Clock clock.WithTicker
}

var _ manager.LeaderElectionRunnable = &Tuner{}

const (
	// largeHeap is the size from which a heap is large, in bytes.
	largeHeap = 32 << 20
	// standardGrowth and growthOfLarge are by how much a heap may grow, in percent. The first is Go's default.
	standardGrowth, growthOfLarge = 100, 50
	// A heap may always grow to smallestGoal bytes, as far as maxGrowth percent permit.
	smallestGoal, maxGrowth = 24 << 20, 800
	// every is how often the heap is read.
	every = time.Second
)

// AddTo adds a Tuner of this process to the manager, unless the user has set the growth with GOGC.
func AddTo(mgr ctrl.Manager) error {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	return mgr.Add(&Tuner{Live: live, Set: func(percent int) { debug.SetGCPercent(percent) }, Clock: clock.RealClock{}})
}

func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: a replica that waits for the lease has filled its caches.
func (t *Tuner) NeedLeaderElection() bool { return false }

// Start sets the growth until ctx is done.
func (t *Tuner) Start(ctx context.Context) error {
	ticker := t.Clock.NewTicker(every)
	defer ticker.Stop()
	for set := standardGrowth; ; {
		if want := growth(t.Live()); want != set {
			t.Set(want)
			set = want
		}
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return nil
		}
	}
}

// growth returns by how much a heap of the size may grow, in percent. It has few values, because a change of it stops the process for
// a moment.
func growth(live uint64) int {
	switch {
	case live >= largeHeap:
		return growthOfLarge
	case live == 0: // not known yet
		return standardGrowth
	}
	percent := standardGrowth
	for percent < maxGrowth && live*uint64(100+percent)/100 < smallestGoal {
		percent *= 2
	}
	return percent
}
