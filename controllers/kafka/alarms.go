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
	timers map[types.UID]*alarm
	closed bool
}

type alarm struct {
	at    time.Time
	timer clock.Timer
}

// set an alarm for the cluster, unless it has one that rings no later. A later one gives way.
func (a *alarms) set(clk clock.WithDelayedExecution, cluster types.UID, after time.Duration, ring func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, has := clk.Now().Add(after), a.timers[cluster]
	if a.closed || has != nil && !has.at.After(at) {
		return
	}
	if has != nil {
		has.timer.Stop()
	}
	if a.timers == nil {
		a.timers = map[types.UID]*alarm{}
	}
	next := &alarm{at: at}
	next.timer = clk.AfterFunc(after, func() {
		if a.took(cluster, next) {
			ring()
		}
	})
	a.timers[cluster] = next
}

// took the alarm that rings away; false if it was dropped, or has given way to another one.
func (a *alarms) took(cluster types.UID, ringing *alarm) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timers[cluster] != ringing {
		return false
	}
	delete(a.timers, cluster)
	return true
}

// drop the alarm of the cluster.
func (a *alarms) drop(cluster types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if has := a.timers[cluster]; has != nil {
		has.timer.Stop()
		delete(a.timers, cluster)
	}
}

// close drops every alarm and lets none be set any more.
func (a *alarms) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, one := range a.timers {
		one.timer.Stop()
	}
	a.timers = nil
}
