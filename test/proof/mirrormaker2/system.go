package mirrormaker2

import (
	"context"
	"errors"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/runtime/external"
)

var errSilent = errors.New("connection refused")

// system is Connect as the operator reaches it.
type system struct{ at *explore.Scenario }

var _ connection.System = system{}

// Read answers every query now.
func (s system) Read(_ context.Context, _ connection.Endpoint, queries []connection.Query, _ bool, now time.Time) []connection.Reading {
	pods := podsOf(s.at)
	return of(s.at).read(queries, now, func(pod string) types.UID {
		for i := range pods {
			if pods[i] != nil && pods[i].Name == pod {
				return pods[i].UID
			}
		}
		return ""
	})
}

// read answers every query. uid returns the UID of the pod with a name.
func (w *World) read(queries []connection.Query, now time.Time, uid func(pod string) types.UID) []connection.Reading {
	out := make([]connection.Reading, len(queries))
	for i, q := range queries {
		out[i].At = now
		if q.Question.About == connection.AboutTasks {
			out[i].Answer, out[i].Err = w.tasks(uid(q.Question.Pod))
			continue
		}
		out[i].Answer, out[i].Err = w.answer(q.Question.About)
	}
	return out
}

func (w *World) answer(about connection.Subject) (a connection.Answer, err error) {
	k := &w.connector
	switch {
	case !w.answers():
		return a, errSilent
	case about == connection.AboutOffsets && k.exists:
		a.Document, a.Exists = document(k.offset), true
	case k.exists:
		status := connect.Status{Name: source, Type: "source", Connector: connect.WorkerState{State: k.state}, Tasks: []connect.TaskStatus{}}
		for i := range w.processes {
			if p := &w.processes[i]; w.runs(p) && p.learned.IsZero() {
				status.Tasks = append(status.Tasks, connect.TaskStatus{ID: i, WorkerState: connect.WorkerState{State: connect.Running}})
			}
		}
		a.Connectors = map[string]connection.Reported{source: {Config: k.config, Status: status}}
	}
	return a, nil
}

// tasks answers as one process.
func (w *World) tasks(pod types.UID) (a connection.Answer, err error) {
	for i := range w.processes {
		if p := &w.processes[i]; p.pod == pod && w.runs(p) && !w.silent {
			a.Exists = true
			if p.learned.IsZero() {
				a.Tasks = 1
			}
			return a, nil
		}
	}
	return a, errSilent
}

// Write accepts a command. Connect carries it out at any later time.
func (s system) Write(_ context.Context, _ connection.Endpoint, id machines.RequestID, do connection.Command) {
	w := of(s.at)
	if w.sent[id.Lifecycle].id == id { // every System ignores a repeated command
		return
	}
	w.forget(id.Lifecycle, s.at.Now())
	if w.sent == nil {
		w.sent = map[string]command{}
	}
	c := command{id: id, do: do, request: w.request, answer: external.Answer{RequestID: id, State: external.Pending}}
	w.judgeCommand(s.at, &c)
	w.sent[id.Lifecycle] = c
}

// forget removes the last command of a lifecycle. If it has no outcome, it may still be carried out.
func (w *World) forget(entry string, now time.Time) {
	if c, found := w.sent[entry]; found && c.answer.State == external.Pending {
		w.delay(c, now)
	}
	w.sent = maps.Clone(w.sent)
	delete(w.sent, entry)
}

func (w *World) delay(c command, now time.Time) {
	c.since = now
	w.late = append(w.mayCome(now), c)
}

// Answer returns the outcome of the command with the request ID.
func (s system) Answer(_ connection.Endpoint, id machines.RequestID) external.Answer {
	if c := of(s.at).sent[id.Lifecycle]; c.id == id {
		return c.answer
	}
	return external.Answer{}
}

// Failure returns none: the kind does not read it.
func (system) Failure(connection.Endpoint, string) external.Answer { return external.Answer{} }

// InFlight returns the commands that may still take effect.
func (s system) InFlight(_ connection.Endpoint, entry string) (d external.InFlight) {
	w, now := of(s.at), s.at.Now()
	for _, c := range w.mayCome(now) {
		if end := c.since.Add(connection.Settle); c.id.Lifecycle == entry && end.After(d.Until) {
			d = external.InFlight{Until: end, Sent: true}
		}
	}
	if w.sent[entry].answer.State == external.Pending {
		d = external.InFlight{Until: now.Add(connection.Settle), Sent: true}
	}
	return d
}

// Drop does nothing: no connection exists.
func (system) Drop(types.UID) {}

// resting is a Connect that only answers, before the search.
type resting struct {
	connection.System
	world *World
}

// Read answers every query now.
func (r resting) Read(_ context.Context, _ connection.Endpoint, queries []connection.Query, _ bool, now time.Time) []connection.Reading {
	return r.world.read(queries, now, func(string) types.UID { return "" })
}

// Answer returns none.
func (resting) Answer(connection.Endpoint, machines.RequestID) external.Answer {
	return external.Answer{}
}

// Failure returns none: the kind does not read it.
func (resting) Failure(connection.Endpoint, string) external.Answer { return external.Answer{} }

// InFlight returns none.
func (resting) InFlight(connection.Endpoint, string) external.InFlight { return external.InFlight{} }

// podName returns the name of the pod of a worker.
func podName(worker int) string { return render.PodName(name, int32(worker)) } //nolint:gosec // two
