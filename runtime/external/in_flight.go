package external

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/states"
)

// InFlight describes commands with an uncertain outcome: they may still take effect, or their effect may not be visible yet,
// independently of what is read now. Such a command is in flight, was just carried out, lost its answer, or was sent by a process
// that ended. The persisted state is not needed to know of them.
type InFlight struct {
	// Until is when no such command can take effect any more and the system shows the effects. Zero if there is none.
	Until time.Time
	// Ended is when the last one of this process ended. Zero if one is under way, or none was sent.
	Ended time.Time
	// Sent is true if this process sent one. Otherwise a previous process may have sent one.
	Sent bool
}

const (
	// refreshInFlight is the maximum age of an answer while a command may take effect. Each answer triggers a reconcile, which
	// must not repeat the question at once.
	refreshInFlight = time.Second
	// refreshAfterInFlight is the delay of one more read after the last command could take effect. A question that is in
	// flight for less is not repeated.
	refreshAfterInFlight = 10 * time.Second
)

// defaultSettle is how long a command may take effect after its sender has ended, and its effect may take to be visible. It must
// exceed the time limit of a command in the system, with what the system needs to forward it and to show its effect.
const defaultSettle = time.Minute

// RefreshSooner makes the answer be read more often while a command may change it, and once more when none can any more.
// Otherwise an object whose persisted state was lost, or whose spec changed, could come to rest on a value that is about to
// change. The last answer remains valid until then, so that the status does not change.
func RefreshSooner[Q comparable](d InFlight, q *Query[Q], now time.Time) {
	left := d.Until.Add(refreshAfterInFlight).Sub(now)
	switch {
	case d.Until.IsZero():
	case left <= 0:
		q.Renew = now.Sub(d.Until) // only older answers are read again
	case d.Sent:
		q.Renew, q.Again = refreshInFlight, states.DefaultPoll
		if !d.Ended.IsZero() { // an answer from before its end is read again at once
			q.Renew = min(refreshInFlight, max(now.Sub(d.Ended), 1))
		}
	default:
		q.Again = left
	}
}

// SettleScaled returns the default of Polled.Settle, scaled for environments whose deadlines are scaled.
func SettleScaled(scale float64) time.Duration {
	if scale <= 0 {
		return defaultSettle
	}
	return time.Duration(float64(defaultSettle) * scale)
}

// InFlight returns the uncertain commands that this process sent, else those that a previous process may have sent: that process
// ended before this one observed the object for the first time.
func (p *Polled[T, C, Q, A, W]) InFlight(target T, lifecycle string) InFlight {
	settle := p.Settle
	if settle <= 0 {
		settle = defaultSettle
	}
	_, uid := target.Object()
	now := p.Clock.Now()
	d := InFlight{Until: p.first.of(uid, now).Add(settle)}
	for _, m := range p.senders(target, lifecycle) {
		switch underWay, endedAt := m.Unsettled(); {
		case underWay:
			return InFlight{Until: now.Add(settle), Sent: true}
		case !endedAt.IsZero() && endedAt.Add(settle).After(d.Until):
			d = InFlight{Until: endedAt.Add(settle), Ended: endedAt, Sent: true}
		}
	}
	return d
}

// firstTimes are the times at which something was observed of each object for the first time. The zero value is ready to use.
type firstTimes struct {
	mu sync.Mutex
	at map[types.UID]time.Time
}

// of returns the time of the object, which is now if this is the first.
func (f *firstTimes) of(object types.UID, now time.Time) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, observed := f.at[object]; observed {
		return at
	}
	if f.at == nil {
		f.at = map[types.UID]time.Time{}
	}
	f.at[object] = now
	return now
}

func (f *firstTimes) drop(object types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.at, object)
}
