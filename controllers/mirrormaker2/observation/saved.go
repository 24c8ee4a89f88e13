package observation

import (
	"maps"
	"slices"
	"strconv"
	"time"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
)

// Memory returns what the collector remembers.
func (c *Collector) Memory() lifecycle.KindMemory { return &c.memory }

// saved is a copy of a memory.
type saved map[string]*object

// Save implements lifecycle.KindMemory.
func (m *memory) Save() lifecycle.SavedKindMemory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return saved(m.objects).clone()
}

// Restore implements lifecycle.KindMemory.
func (m *memory) Restore(from lifecycle.SavedKindMemory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, _ := from.(saved)
	m.objects = s.clone()
}

func (s saved) clone() saved {
	out := make(saved, len(s))
	for uid, o := range s {
		c := *o
		c.answers, c.failures, c.absent, c.restarts = maps.Clone(o.answers), maps.Clone(o.failures), maps.Clone(o.absent), maps.Clone(o.restarts)
		c.restarting = maps.Clone(o.restarting)
		c.watches = make(map[string]*watch, len(o.watches))
		for name, w := range o.watches {
			c.watches[name] = w.clone()
		}
		out[uid] = &c
	}
	return out
}

func (w *watch) clone() *watch {
	c := *w
	c.workers = make(map[string]*worker, len(w.workers))
	for process, one := range w.workers {
		own := *one
		c.workers[process] = &own
	}
	return &c
}

// AppendCanonical implements lifecycle.SavedKindMemory.
func (s saved) AppendCanonical(dst []byte, now time.Time) []byte {
	for _, uid := range slices.Sorted(maps.Keys(s)) {
		o := s[uid]
		for _, name := range slices.Sorted(maps.Keys(o.watches)) {
			dst = o.watches[name].appendCanonical(append(append(dst, name...), 0), now)
		}
		for _, entry := range slices.Sorted(maps.Keys(o.answers)) {
			dst = append(append(dst, entry...), aged(o.answers[entry].at, now))
		}
		for _, entry := range slices.Sorted(maps.Keys(o.failures)) {
			dst = append(append(append(dst, entry...), o.failures[entry].Reason...), o.failures[entry].Message...)
		}
		for _, process := range slices.Sorted(maps.Keys(o.absent)) {
			dst = append(append(dst, process...), aged(o.absent[process], now))
		}
		for _, name := range slices.Sorted(maps.Keys(o.restarts)) {
			dst = append(append(dst, name...), byte(o.restarts[name].Count)) //nolint:gosec // equal modulo 256 is rare enough
		}
		for _, entry := range slices.Sorted(maps.Keys(o.restarting)) {
			dst = append(append(dst, entry...), byte(o.restarting[entry].counted.Count)) //nolint:gosec // as above
		}
	}
	return dst
}

func (w *watch) appendCanonical(dst []byte, now time.Time) []byte {
	dst = append(append(dst, w.document...), aged(w.stopped, now), aged(w.since, now), aged(w.last, now))
	for _, process := range slices.Sorted(maps.Keys(w.workers)) {
		one := w.workers[process]
		dst = append(append(dst, process...), aged(one.quiet, now), aged(one.asked, now), aged(one.answered, now), polls(one.ran-one.pause))
		dst = strconv.AppendBool(strconv.AppendBool(dst, one.failed), one.sparse)
	}
	return dst
}

// aged returns an age in polls. Zero means never.
func aged(since, now time.Time) byte {
	if since.IsZero() {
		return 0
	}
	return 1 + polls(now.Sub(since))
}

// polls returns a duration in polls, at most as many as any decision waits for by default. States that wait differ in it.
func polls(d time.Duration) byte {
	return byte(max(0, min(d, absence)/states.DefaultPoll)) //nolint:gosec // 24
}
