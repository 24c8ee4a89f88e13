package external

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/runtime/internal/poller"
)

// Polled is a System for a manager, whose methods do not block: questions and commands run in goroutines for each object, one
// call at a time, or with Protocol.Together the questions of one reconcile at once, in each of the protocol's lanes. The caller must close
// it.
type Polled[T Target, C any, Q comparable, A, W any] struct {
	// Protocol of the systems. Required.
	Protocol Protocol[T, C, Q, A, W]
	// Wake is called when an answer or an outcome has arrived. Required.
	Wake func(object types.NamespacedName)
	// Clock of the answers and alarms. Required.
	Clock clock.WithDelayedExecution
	// Settle is how long a command may take effect after its sender has ended. Optional; default: one minute.
	Settle time.Duration
	// AskTimeout and ExecuteTimeout are the time limits of a question and of a command. Optional; defaults: 10 s and 30 s.
	AskTimeout, ExecuteTimeout time.Duration

	members poller.Set[pollKey, *member[C, Q, A, W]]
	alarms  alarms
	// first is when each object was first observed, and unconnected since when no client can be created for one.
	first, unconnected firstTimes
}

// pollKey identifies one poller endpoint: that for the questions of one lane, or that for the commands of one lifecycle, of which a newer
// one replaces an older one.
type pollKey struct {
	object types.UID
	// lifecycle of commands; empty for questions.
	lifecycle string
	// lane of questions; empty for commands.
	lane string
}

// member is the endpoint of one pollKey, with its client.
type member[C any, Q comparable, A, W any] struct {
	*poller.Endpoint[Q, A, request[W]]
	client C
}

// request is a command with its request ID.
type request[W any] struct {
	id      machines.RequestID
	command W
}

// Read returns the last answers. An answer that is too old is pending while a new one is in flight.
func (p *Polled[T, C, Q, A, W]) Read(ctx context.Context, target T, queries []Query[Q], live bool, now time.Time) []Reading[A] {
	out := make([]Reading[A], len(queries))
	name, uid := target.Object()
	wake := func() { p.Wake(name) }
	lanes, err := p.lanes(target, queries, live)
	if err != nil {
		since := p.unconnected.of(uid, now)
		for i := range out {
			out[i].Err, out[i].FailedSince = err, since
		}
		p.alarms.set(p.Clock, uid, retryFailed, wake)
		return named(p.Protocol.System, out)
	}
	p.unconnected.drop(uid)
	if live {
		return named(p.Protocol.System, p.askAll(ctx, lanes[""].client, queries))
	}
	wanted := map[string][]poller.Query[Q]{}
	for _, q := range queries {
		lane := p.lane(q.Question)
		renew, again := intervals(q, lanes[lane].Read(q.Question).State())
		if again > 0 {
			p.alarms.set(p.Clock, uid, again, wake)
		}
		wanted[lane] = append(wanted[lane], poller.Query[Q]{Question: q.Question, MaxAge: renew})
	}
	for lane, questions := range wanted {
		lanes[lane].Ask(questions...)
	}
	for i, q := range queries {
		out[i] = readingOf(lanes[p.lane(q.Question)].Read(q.Question), q.MaxAge, now)
	}
	return named(p.Protocol.System, out)
}

// lane returns the lane of a question.
func (p *Polled[T, C, Q, A, W]) lane(question Q) string {
	if p.Protocol.Lane == nil {
		return ""
	}
	return p.Protocol.Lane(question)
}

// lanes returns the endpoints of the queries by lane, with clients of the target as it is now. Live queries need that without a name only.
func (p *Polled[T, C, Q, A, W]) lanes(target T, queries []Query[Q], live bool) (map[string]*member[C, Q, A, W], error) {
	_, uid := target.Object()
	names := map[string]bool{"": true}
	for _, q := range queries {
		if !live {
			names[p.lane(q.Question)] = true
		}
	}
	out := make(map[string]*member[C, Q, A, W], len(names))
	for lane := range names {
		m, err := p.member(target, pollKey{object: uid, lane: lane})
		if err != nil {
			return nil, err
		}
		if p.Protocol.Refresh != nil {
			p.Protocol.Refresh(m.client, target)
		}
		out[lane] = m
	}
	return out, nil
}

// callsAtOnce limits the number of concurrent live questions.
const callsAtOnce = 8

// askAll sends every query now. An answer reflects the state at the time of the request or later.
func (p *Polled[T, C, Q, A, W]) askAll(ctx context.Context, client C, queries []Query[Q]) []Reading[A] {
	out := make([]Reading[A], len(queries))
	running := make(chan struct{}, callsAtOnce)
	asked := p.Clock.Now()
	if p.Protocol.Together != nil {
		questions := make([]Q, len(queries))
		for i := range queries {
			questions[i] = queries[i].Question
		}
		if with, err := poller.Guard(func() (C, error) { return p.Protocol.Together(ctx, client, questions), nil }); err == nil {
			client = with // else each is asked alone
		}
	}
	var all sync.WaitGroup
	for i, q := range queries {
		all.Go(func() {
			running <- struct{}{}
			defer func() { <-running }()
			out[i].Answer, out[i].Err = poller.Guard(func() (A, error) { return p.Protocol.Ask(ctx, client, q.Question) })
			out[i].At = asked
		})
	}
	all.Wait()
	return out
}

// together returns how the questions to a client that wait at the same time are asked; nil if each is a request of its own.
func (p *Polled[T, C, Q, A, W]) together(client C) func(context.Context, []Q) func(context.Context, Q) (A, error) {
	if p.Protocol.Together == nil {
		return nil
	}
	return func(ctx context.Context, questions []Q) func(context.Context, Q) (A, error) {
		with := p.Protocol.Together(ctx, client, questions)
		return func(ctx context.Context, q Q) (A, error) { return p.Protocol.Ask(ctx, with, q) }
	}
}

// Write sends the command.
func (p *Polled[T, C, Q, A, W]) Write(_ context.Context, target T, id machines.RequestID, command W) {
	_, uid := target.Object()
	if m, err := p.member(target, pollKey{object: uid, lifecycle: id.Lifecycle}); err == nil {
		m.Submit(poller.Request[request[W]]{Number: number(id), Command: request[W]{id: id, command: command}})
	}
}

// Answer returns the outcome of the command. A command that had none when its client was replaced is Unknown, and one that is not sent any
// more because a later one of its state was.
func (p *Polled[T, C, Q, A, W]) Answer(target T, id machines.RequestID) Answer {
	m, found := p.sender(target, id.Lifecycle)
	if !found {
		return Answer{}
	}
	o := m.Outcome(number(id))
	switch {
	case o.Result == poller.Waiting:
		return Answer{RequestID: id, State: Pending, Text: o.Text}
	case o.At.IsZero():
		return Answer{} // not sent by this process
	}
	return answer(id, o)
}

// Failure returns the outcome of the last command that ended, if it is not Done. A command of another attempt makes it forgotten.
func (p *Polled[T, C, Q, A, W]) Failure(target T, lifecycle string) Answer {
	m, found := p.sender(target, lifecycle)
	if !found {
		return Answer{}
	}
	o, failed := m.Failed()
	if !failed {
		return Answer{}
	}
	_, uid := target.Object()
	return answer(machines.RequestID{UID: string(uid), Lifecycle: lifecycle, Attempt: o.Number.Attempt, State: o.Number.State, Sequence: int64(o.Number.Sequence)}, o)
}

// Drop ends every call and connection to the system of a deleted object, and removes its state.
func (p *Polled[T, C, Q, A, W]) Drop(object types.UID) {
	p.alarms.drop(object)
	p.first.drop(object)
	p.unconnected.drop(object)
	p.members.DropAll(func(key pollKey) bool { return key.object == object })
}

// Close ends every call and connection.
func (p *Polled[T, C, Q, A, W]) Close() {
	p.alarms.close()
	p.members.Close()
}

// sender returns the endpoint of the last commands of a lifecycle: also that of a previous address, which may still execute one, while
// no client can be created for the present one. Without an endpoint no command was sent.
func (p *Polled[T, C, Q, A, W]) sender(target T, lifecycle string) (m *member[C, Q, A, W], found bool) {
	_, uid := target.Object()
	key := pollKey{object: uid, lifecycle: lifecycle}
	m, err := p.member(target, key)
	if err == nil {
		return m, true
	}
	return p.members.Find(key)
}

// senders returns the endpoints of the last commands of a lifecycle, or of all lifecycles of the object if that is empty.
func (p *Polled[T, C, Q, A, W]) senders(target T, lifecycle string) []*member[C, Q, A, W] {
	if lifecycle == "" {
		_, uid := target.Object()
		return p.members.FindAll(func(key pollKey) bool { return key.object == uid && key.lifecycle != "" })
	}
	if m, found := p.sender(target, lifecycle); found {
		return []*member[C, Q, A, W]{m}
	}
	return nil
}

func (p *Polled[T, C, Q, A, W]) member(target T, key pollKey) (*member[C, Q, A, W], error) {
	name, _ := target.Object()
	return p.members.Get(key, target.BuiltFrom(), func(previous *member[C, Q, A, W]) (*member[C, Q, A, W], error) {
		c, done, err := p.Protocol.Connect(target)
		if err != nil {
			return nil, err
		}
		options := poller.Options[Q, A, request[W]]{
			Ask: func(ctx context.Context, q Q) (A, error) { return p.Protocol.Ask(ctx, c, q) }, Together: p.together(c),
			Write: func(ctx context.Context, r request[W]) poller.Outcome {
				return outcome(p.Protocol.answerOf(r.id, p.Protocol.Execute(ctx, c, r.command)))
			},
			Wake: func() { p.Wake(name) }, Now: p.Clock.Now, Closed: done,
			AskTimeout: p.AskTimeout, WriteTimeout: p.ExecuteTimeout,
		}
		if previous != nil {
			options.Previous = previous.Endpoint
		}
		return &member[C, Q, A, W]{client: c, Endpoint: poller.New(options)}, nil
	})
}

// number returns the request number of the request ID.
func number(id machines.RequestID) poller.Number {
	return poller.Number{Attempt: id.Attempt, State: id.State, Sequence: int(id.Sequence)}
}

// answer converts the outcome of a command that has ended.
func answer(id machines.RequestID, o poller.Outcome) Answer {
	a := Answer{RequestID: id, State: Unknown, Code: o.Code, Name: o.Name, Text: o.Text}
	switch {
	case o.Result == poller.Done:
		a.State = Done
	case o.Result == poller.Refused && o.NeverSent:
		a.State = Failed
	case o.Result == poller.Refused:
		a.State = Refused
	}
	return a
}

// outcome converts the answer to a command. A command that was never sent counts as refused: it was not executed.
func outcome(a Answer) poller.Outcome {
	o := poller.Outcome{Result: poller.Unknown, Code: a.Code, Name: a.Name, Text: a.Text}
	switch a.State {
	case Done:
		o.Result = poller.Done
	case Refused:
		o.Result = poller.Refused
	case Failed:
		o.Result, o.NeverSent = poller.Refused, true
	case None, Pending, Unknown:
	}
	return o
}
