package kafka

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// alarms wake clusters once each after a while. The zero value is ready.
type alarms struct {
	mu     sync.Mutex
	timers map[types.UID]clock.Timer
	closed bool
}

// set an alarm for the cluster, unless it has one.
func (a *alarms) set(clk clock.WithDelayedExecution, cluster types.UID, after time.Duration, ring func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, has := a.timers[cluster]; has || a.closed {
		return
	}
	if a.timers == nil {
		a.timers = map[types.UID]clock.Timer{}
	}
	a.timers[cluster] = clk.AfterFunc(after, func() {
		if a.take(cluster) != nil {
			ring()
		}
	})
}

// take the alarm of the cluster away; nil if it has none.
func (a *alarms) take(cluster types.UID) clock.Timer {
	a.mu.Lock()
	defer a.mu.Unlock()
	timer := a.timers[cluster]
	delete(a.timers, cluster)
	return timer
}

// drop the alarm of the cluster.
func (a *alarms) drop(cluster types.UID) {
	if timer := a.take(cluster); timer != nil {
		timer.Stop()
	}
}

// close drops every alarm and lets none be set any more.
func (a *alarms) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, timer := range a.timers {
		timer.Stop()
	}
	a.timers = nil
}
