package kafka

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/states"
)

// Doubt is about commands that may take effect, or show it, whatever is read now: one that is under way or was carried out a
// moment ago, one whose answer was lost, one of a process that ended. No bookmark is needed to know of them.
type Doubt struct {
	// Until is when none of them can take effect any more, and every broker shows what has. Zero if there is none.
	Until time.Time
	// Sent says that this process sent one. Else only a process before it may have.
	Sent bool
}

const (
	// inDoubt is how old an answer may be while a command may take effect. Each answer is followed by a look, which must not put
	// the question again at once.
	inDoubt = time.Second
	// afterDoubt is how long after the last one could take effect the levels are asked for once more: an answer that is on its way
	// for less is not asked for twice.
	afterDoubt = 10 * time.Second
)

// hasten has the levels asked for anew while a command may change them, and once more when none can any more: a status that lost
// its bookmark, or another wish, may have let the cluster come to rest on a level that is about to change. What was heard last counts
// until then, so that nothing shows of it.
func (d Doubt) hasten(q *Query, now time.Time) {
	left := d.Until.Add(afterDoubt).Sub(now)
	switch {
	case d.Until.IsZero():
	case left <= 0:
		q.Renew = now.Sub(d.Until) // what was asked before that
	case d.Sent:
		q.Renew, q.Again = inDoubt, states.DefaultPoll
	default:
		q.Again = left
	}
}

// defaultSettle is how long a command may take effect after its sender is gone, and its effect take to show. The sender tells
// the controller to give up within seconds (three quarters of the client's time-out), and forwarding adds no more; a broker shows
// a new level once it has fetched the metadata log so far.
const defaultSettle = time.Minute

// SettleScaled is the time that Polled takes for that by default, where declared times are stretched.
func SettleScaled(scale float64) time.Duration {
	if scale <= 0 {
		return defaultSettle
	}
	return time.Duration(float64(defaultSettle) * scale)
}

// Doubt of the commands that this process knows of, or else of those that one before it may have sent: it ended before this one
// looked at the cluster for the first time.
func (p *Polled) Doubt(cluster Endpoint, lifecycle string) Doubt {
	settle := p.Settle
	if settle <= 0 {
		settle = defaultSettle
	}
	d := Doubt{Until: p.looks.of(cluster.UID, p.Clock.Now()).Add(settle)}
	member, err := p.member(cluster, lifecycle)
	if err != nil {
		return d // a cluster that nobody can connect to is asked nothing
	}
	switch underWay, endedAt := member.Unsettled(); {
	case underWay:
		d = Doubt{Until: p.Clock.Now().Add(settle), Sent: true}
	case !endedAt.IsZero() && endedAt.Add(settle).After(d.Until):
		d = Doubt{Until: endedAt.Add(settle), Sent: true}
	}
	return d
}

// firstLooks are when a process looked at each cluster for the first time. The zero value is ready.
type firstLooks struct {
	mu sync.Mutex
	at map[types.UID]time.Time
}

// of the cluster; now, if this is the first.
func (f *firstLooks) of(cluster types.UID, now time.Time) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, looked := f.at[cluster]; looked {
		return at
	}
	if f.at == nil {
		f.at = map[types.UID]time.Time{}
	}
	f.at[cluster] = now
	return now
}

func (f *firstLooks) drop(cluster types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.at, cluster)
}

// Doubt is none: what was commanded is done, or was not, by the end of the pass.
func (d *Direct) Doubt(Endpoint, string) Doubt { return Doubt{} }
