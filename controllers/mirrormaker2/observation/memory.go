package observation

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connectoroffsets"
	"github.com/detent-dev/detent/transitions"
)

// memory holds what readings showed over time. It is lost with the process; the readings then begin again. The zero value is ready to
// use.
type memory struct {
	mu      sync.Mutex
	objects map[string]*object
}

// object is the memory of one resource.
type object struct {
	watches map[string]*watch // by connector
	answers map[string]answer // by the name of the lifecycle's entry
	// failures are why the last commands failed, by the same name. A command that was confirmed has none.
	failures map[string]*transitions.Problem
	absent   map[string]time.Time // by process
	restarts map[string]AutoRestart
	// restarting are the automatic restarts that were sent and have no outcome yet, by the name of the lifecycle's entry.
	restarting map[string]restarting
}

// restarting is an automatic restart that was sent.
type restarting struct {
	id        machines.RequestID
	connector string
	counted   AutoRestart
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

func (m *memory) of(uid string) *object {
	if m.objects == nil {
		m.objects = map[string]*object{}
	}
	o := m.objects[uid]
	if o == nil {
		o = &object{watches: map[string]*watch{}, answers: map[string]answer{}, failures: map[string]*transitions.Problem{}, absent: map[string]time.Time{}, restarts: map[string]AutoRestart{}, restarting: map[string]restarting{}}
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
	o.restarted(lifecycle, id, a.State)
	switch a.State {
	case connectoroffsets.NoAnswer, connectoroffsets.Pending:
		return a
	case connectoroffsets.Confirmed:
		delete(o.failures, lifecycle)
	case connectoroffsets.Refused, connectoroffsets.NotExecuted, connectoroffsets.Uncertain:
		o.failures[lifecycle] = a.Failure()
	}
	if o.answers[lifecycle].id != id {
		o.answers[lifecycle] = answer{id, now}
	}
	a.At = o.answers[lifecycle].at
	return a
}

// succeeds forgets what failed of a lifecycle's earlier request.
func (m *memory) succeeds(uid, lifecycle string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of(uid).failures, lifecycle)
}

func (m *memory) failure(uid, lifecycle string) *transitions.Problem {
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

// Restarting notes an automatic restart that is being sent. It is counted when it may have been carried out.
func (c *Collector) Restarting(uid types.UID, connector string, id machines.RequestID, counted AutoRestart) {
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	c.memory.of(string(uid)).restarting[id.Lifecycle] = restarting{id, connector, counted}
}

// restarted counts an automatic restart once its answer shows that it was, or may have been, carried out. One that was refused is repeated.
// One of an earlier request has lost its answer, and counts.
func (o *object) restarted(lifecycle string, id machines.RequestID, state connectoroffsets.AnswerState) {
	sent, found := o.restarting[lifecycle]
	if !found {
		return
	}
	if sent.id == id {
		switch state {
		case connectoroffsets.NoAnswer, connectoroffsets.Pending:
			return
		case connectoroffsets.Refused, connectoroffsets.NotExecuted:
			delete(o.restarting, lifecycle)
			return
		case connectoroffsets.Confirmed, connectoroffsets.Uncertain:
		}
	}
	delete(o.restarting, lifecycle)
	o.restarts[sent.connector] = sent.counted
}

func (m *memory) restarts(uid, connector string) (AutoRestart, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, found := m.of(uid).restarts[connector]
	return a, found
}

// recovered drops the count of automatic restarts of a connector that runs again.
func (m *memory) recovered(uid, connector string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of(uid).restarts, connector)
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
