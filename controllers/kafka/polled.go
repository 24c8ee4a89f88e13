package kafka

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/poller"
	"github.com/detent-dev/detent/machines"
)

// Polled is an Observer for a manager, whose methods do not block: questions and commands run in goroutines for each cluster, one
// call at a time. The caller must close it.
type Polled struct {
	// Connect creates the client of a cluster and the function that closes it. It must not connect yet. Required.
	Connect func(Endpoint) (kafkaclient.Client, func(), error)
	// Wake is called when an answer has arrived. Required.
	Wake func(kafka types.NamespacedName)
	// Clock of the answers and alarms. Required.
	Clock clock.WithDelayedExecution
	// Settle is how long a command may take effect after its sender has ended. Default: one minute.
	Settle time.Duration

	members poller.Set[pollKey, *polledCluster]
	alarms  alarms
	looks   firstLooks
}

var _ Observer = &Polled{}

// pollKey identifies one poller endpoint: that for the questions to a cluster, or that for the commands of one lifecycle, of which
// a newer one replaces an older one.
type pollKey struct {
	cluster   types.UID
	lifecycle string
}

type polledCluster struct {
	*poller.Endpoint[kafkaclient.Question, kafkaclient.Answer, kafkaclient.Command]
	client kafkaclient.Client
	nodes  *addressBook
}

// addressBook holds the current addresses of the nodes of one cluster.
type addressBook struct {
	newest atomic.Pointer[map[int32]kafkaclient.NodeAddress]
}

func (b *addressBook) nodes() map[int32]kafkaclient.NodeAddress {
	if nodes := b.newest.Load(); nodes != nil {
		return *nodes
	}
	return nil
}

// renewals is how often an answer is requested again within its maximum age.
const renewals = 10

// retryFailed is the delay before a failed question is sent again, independently of the state that waits for it: at rest only the
// next resync would repeat it.
const retryFailed = 10 * time.Second

// Read returns the last answers. An answer that is too old is pending while a new one is in flight.
func (p *Polled) Read(ctx context.Context, cluster Endpoint, queries []Query, live bool, now time.Time) []Reading {
	out := make([]Reading, len(queries))
	wake := func() { p.Wake(cluster.Name) }
	member, err := p.member(cluster, "")
	if err == nil {
		member.nodes.newest.Store(&cluster.Nodes)
	}
	if err != nil {
		for i := range out {
			out[i].Err = err
		}
		p.alarms.set(p.Clock, cluster.UID, retryFailed, wake)
		return out
	}
	if live {
		return askAll(ctx, member.client, queries, p.Clock)
	}
	for i, q := range queries {
		renew, again := q.MaxAge/renewals, q.Again
		if q.Renew > 0 {
			renew = min(renew, q.Renew)
		}
		if member.Endpoint.Read(q.Question).State() == poller.Unreadable {
			renew, again = min(renew, retryFailed), retryFailed
		}
		member.Ask(q.Question, renew)
		out[i] = heard(member.Endpoint.Read(q.Question), q.MaxAge, now)
		if again > 0 {
			p.alarms.set(p.Clock, cluster.UID, again, wake)
		}
	}
	return out
}

var errTooOld = errors.New("the last answer is too old, and no new one is under way")

// heard converts the state of a question: an answer that is not too old, an error, or pending.
func heard(r poller.Reading[kafkaclient.Answer], maxAge time.Duration, now time.Time) Reading {
	switch r.State() {
	case poller.Unreadable:
		return Reading{Err: r.Err}
	case poller.Known:
		switch {
		case now.Sub(r.AskedAt) <= maxAge:
			return Reading{Answer: r.Value, At: r.AskedAt}
		case r.Asking:
			return Reading{}
		}
		return Reading{Err: errTooOld}
	default:
		return Reading{}
	}
}

// callsAtOnce limits the number of concurrent live questions.
const callsAtOnce = 8

// askAll sends every query now. An answer reflects the state at the time of the request or later.
func askAll(ctx context.Context, c kafkaclient.Reader, queries []Query, clk clock.PassiveClock) []Reading {
	out := make([]Reading, len(queries))
	slots := make(chan struct{}, callsAtOnce)
	var all sync.WaitGroup
	for i, q := range queries {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			at := clk.Now()
			out[i].Answer, out[i].Err = kafkaclient.Ask(ctx, c, q.Question)
			out[i].At = at
		})
	}
	all.Wait()
	return out
}

// Write sends the command.
func (p *Polled) Write(_ context.Context, cluster Endpoint, requestID machines.RequestID, command kafkaclient.Command) {
	if member, err := p.member(cluster, requestID.Lifecycle); err == nil {
		member.Submit(poller.Request[kafkaclient.Command]{Number: number(requestID), Command: command})
	}
}

// Answer returns the outcome of the command. Without a client for the cluster no command was sent.
func (p *Polled) Answer(cluster Endpoint, requestID machines.RequestID) Answer {
	member, err := p.member(cluster, requestID.Lifecycle)
	if err != nil {
		return Answer{}
	}
	o := member.Outcome(number(requestID))
	a := Answer{RequestID: requestID, Text: o.Text}
	switch {
	case o.Result == poller.Waiting:
		a.State = AnswerPending
	case o.At.IsZero():
		return Answer{} // not sent by this process
	case o.Result == poller.Done:
		a.State = AnswerDone
	case o.Result == poller.Refused && o.Code == 0:
		a.State = AnswerFailed
	case o.Result == poller.Refused:
		a.State, a.Code, a.Name = AnswerRefused, int16(o.Code), kafkaclient.CodeName(int16(o.Code))
	default:
		a.State = AnswerUnknown
	}
	return a
}

// Drop ends every call and connection to a deleted cluster, and removes its state.
func (p *Polled) Drop(cluster types.UID) {
	p.alarms.drop(cluster)
	p.looks.drop(cluster)
	p.members.DropAll(func(key pollKey) bool { return key.cluster == cluster })
}

// Close ends every call and connection.
func (p *Polled) Close() {
	p.alarms.close()
	p.members.Close()
}

func (p *Polled) member(cluster Endpoint, lifecycle string) (*polledCluster, error) {
	return p.members.Get(pollKey{cluster.UID, lifecycle}, strings.Join(cluster.Bootstrap, ","), func() (*polledCluster, error) {
		nodes := &addressBook{}
		cluster.NewestNodes = nodes.nodes
		c, closeClient, err := p.Connect(cluster)
		if err != nil {
			return nil, err
		}
		return &polledCluster{client: c, nodes: nodes, Endpoint: poller.New(poller.Options[kafkaclient.Question, kafkaclient.Answer, kafkaclient.Command]{
			Ask: func(ctx context.Context, q kafkaclient.Question) (kafkaclient.Answer, error) {
				return kafkaclient.Ask(ctx, c, q)
			},
			Write: func(ctx context.Context, w kafkaclient.Command) poller.Outcome {
				return outcome(kafkaclient.Execute(ctx, c, w))
			},
			Wake: func() { p.Wake(cluster.Name) }, Now: p.Clock.Now, Closed: closeClient,
		})}, nil
	})
}

// number returns the request number of the request ID.
func number(t machines.RequestID) poller.Number {
	return poller.Number{Attempt: t.Attempt, State: t.State, Sequence: int(t.Sequence)}
}

// outcome converts the result of a command. A command that was never sent is refused without a code: it was not carried out, and
// the text has the reason.
func outcome(err error) poller.Outcome {
	a := AnswerOf(machines.RequestID{}, err)
	switch a.State {
	case AnswerDone:
		return poller.Outcome{Result: poller.Done}
	case AnswerRefused, AnswerFailed:
		return poller.Outcome{Result: poller.Refused, Code: int(a.Code), Text: a.Text}
	default:
		return poller.Outcome{Result: poller.Unknown, Text: a.Text}
	}
}
