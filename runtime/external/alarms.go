package external

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// alarms enqueue objects once after a delay. The zero value is ready to use.
type alarms struct {
	mu     sync.Mutex
	timers map[types.UID]*alarm
	closed bool
}

type alarm struct {
	at    time.Time
	timer clock.Timer
}

// set sets an alarm for the object. If the object has a later alarm, the new one replaces it; an earlier one is kept.
func (a *alarms) set(clk clock.WithDelayedExecution, object types.UID, after time.Duration, ring func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, has := clk.Now().Add(after), a.timers[object]
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
		if a.took(object, next) {
			ring()
		}
	})
	a.timers[object] = next
}

// took removes the firing alarm. It returns false if the alarm was dropped or replaced.
func (a *alarms) took(object types.UID, ringing *alarm) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timers[object] != ringing {
		return false
	}
	delete(a.timers, object)
	return true
}

// drop removes the alarm of the object.
func (a *alarms) drop(object types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if has := a.timers[object]; has != nil {
		has.timer.Stop()
		delete(a.timers, object)
	}
}

// close removes every alarm and makes set do nothing.
func (a *alarms) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, one := range a.timers {
		one.timer.Stop()
	}
	a.timers = nil
}
