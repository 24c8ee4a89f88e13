package observation

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connectoroffsets"
)

// memory holds what readings showed over time. It is lost with the process; the readings then begin again. The zero value is ready to
// use.
type memory struct {
	mu      sync.Mutex
	objects map[string]*object
}

// object is the memory of one resource.
type object struct {
	watches  map[string]*watch // by connector
	answers  map[string]answer // by the name of the lifecycle's entry
	failures map[string]string
	absent   map[string]time.Time // by process
	restarts map[string]AutoRestart
}

// answer is when the answer to a request was seen first.
type answer struct {
	id machines.RequestID
	at time.Time
}

// watch is what readings of one connector showed.
type watch struct {
	// stopped is since when each reading showed the connector as stopped, without tasks.
	stopped time.Time
	// document of the last reading, since when each reading showed it, and when that was read last.
	document    string
	since, last time.Time
	read        bool
	// workers by process.
	workers map[string]*worker
}

// worker is what the answers of one process showed.
type worker struct {
	// quiet is since when each of its answers showed no tasks. asked is when it was asked first, and answered when it last answered.
	quiet, asked, answered time.Time
	// ran is the time between its answers since then. Time in which it gave none, or was not asked for long, does not count. pause is the
	// longest part of it, between two answers: the process may have been frozen in it.
	ran, pause time.Duration
	// failed means that it has failed to answer since it last answered.
	failed bool
}

func (m *memory) of(uid string) *object {
	if m.objects == nil {
		m.objects = map[string]*object{}
	}
	o := m.objects[uid]
	if o == nil {
		o = &object{watches: map[string]*watch{}, answers: map[string]answer{}, failures: map[string]string{}, absent: map[string]time.Time{}, restarts: map[string]AutoRestart{}}
		m.objects[uid] = o
	}
	return o
}

// drop removes the memory of a deleted resource.
func (m *memory) drop(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, string(uid))
}

// absent returns since when the pod of a process is gone.
func (m *memory) absent(uid, process string, now time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.of(uid)
	if _, noted := o.absent[process]; !noted {
		o.absent[process] = now
	}
	return o.absent[process]
}

// answered returns an answer with the time at which it was seen first, and remembers what failed.
func (m *memory) answered(uid, lifecycle string, id machines.RequestID, a connectoroffsets.Answer, now time.Time) connectoroffsets.Answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.of(uid)
	switch a.State {
	case connectoroffsets.NoAnswer, connectoroffsets.Pending:
		return a
	case connectoroffsets.Confirmed:
		delete(o.failures, lifecycle)
	case connectoroffsets.Refused, connectoroffsets.NotExecuted, connectoroffsets.Uncertain:
		o.failures[lifecycle] = a.Text
	}
	if o.answers[lifecycle].id != id {
		o.answers[lifecycle] = answer{id, now}
	}
	a.At = o.answers[lifecycle].at
	return a
}

func (m *memory) failure(uid, lifecycle string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of(uid).failures[lifecycle]
}

// forget removes what was watched of a connector whose offsets nothing requests any more.
func (m *memory) forget(uid string, watched map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.of(uid)
	for connector := range o.watches {
		if !watched[connector] {
			delete(o.watches, connector)
		}
	}
}

// Restarted counts an automatic restart that was sent.
func (c *Collector) Restarted(uid types.UID, connector string, counted AutoRestart) {
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	c.memory.of(string(uid)).restarts[connector] = counted
}

func (m *memory) restarts(uid, connector string) (AutoRestart, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, found := m.of(uid).restarts[connector]
	return a, found
}

// saw adds a reading of whether the connector is stopped without tasks.
func (w *watch) saw(stopped bool, at time.Time) {
	switch {
	case !stopped:
		w.stopped = time.Time{}
		for _, one := range w.workers {
			one.disquiet()
		}
	case w.stopped.IsZero():
		w.stopped = at
	}
}

// sawDocument adds a reading of the offsets.
func (w *watch) sawDocument(document string, at time.Time) {
	if !w.read || w.document != document {
		w.document, w.since, w.read = document, at, true
	}
	w.last = at
}

// of returns what the answers of one process showed. It is asked from now on at the latest.
func (w *watch) of(process string, now time.Time) *worker {
	if w.workers == nil {
		w.workers = map[string]*worker{}
	}
	one := w.workers[process]
	if one == nil {
		one = &worker{asked: now}
		w.workers[process] = one
	}
	return one
}

// sawWorker adds an answer of one process. Two answers that are further apart than most are not connected.
func (w *watch) sawWorker(one *worker, tasks int, at time.Time, most time.Duration) {
	passed, failed := at.Sub(one.answered), one.failed
	one.answered, one.failed = at, false
	switch {
	case tasks > 0 || w.stopped.IsZero() || at.Before(w.stopped):
		one.disquiet()
	case one.quiet.IsZero():
		one.quiet = at
	case !failed && passed <= most:
		one.ran, one.pause = one.ran+passed, max(one.pause, passed)
	}
}

func (one *worker) disquiet() { one.quiet, one.ran, one.pause = time.Time{}, 0, 0 }

// quiet reports whether the process has had the time to commit its last offsets since it had no tasks, and the offsets stayed equal. Time
// in which it may have been frozen does not count: it would commit after it continues.
func (w *watch) quiet(one *worker, longest time.Duration) bool {
	if one.quiet.IsZero() || !w.read || one.ran < longest+one.pause {
		return false
	}
	from := one.quiet
	if w.since.After(from) {
		from = w.since
	}
	return !w.last.Before(from.Add(longest))
}

// silent reports whether the process has not answered for so long that it must be restarted.
func (one *worker) silent(now time.Time, most time.Duration) bool {
	from := one.asked
	if one.answered.After(from) {
		from = one.answered
	}
	return !now.Before(from.Add(most))
}
