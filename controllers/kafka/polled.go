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

// Polled is an Observer whose passes never wait, for a manager: questions and commands run in goroutines of the clusters they go
// to, one call at a time. It must be closed.
type Polled struct {
	// Connect makes the client of a cluster, and what closes it. It calls nobody. Demanded.
	Connect func(Endpoint) (kafkaclient.Client, func(), error)
	// Wake is called when an answer is there. Demanded.
	Wake func(kafka types.NamespacedName)
	// Clock of the answers and of wake-ups. Demanded.
	Clock clock.WithDelayedExecution
	// Settle is how long a command whose sender is gone may still take effect. Default a minute.
	Settle time.Duration

	members poller.Set[pollKey, *polledCluster]
	alarms  alarms
	looks   firstLooks
}

var _ Observer = &Polled{}

// pollKey is what has an endpoint of its own: the questions to a cluster, and the commands of each lifecycle, which take each
// other's place.
type pollKey struct {
	cluster   types.UID
	lifecycle string
}

type polledCluster struct {
	*poller.Endpoint[kafkaclient.Question, kafkaclient.Answer, kafkaclient.Command]
	client kafkaclient.Client
	nodes  *addressBook
}

// addressBook holds the addresses of the nodes of one cluster as they are now.
type addressBook struct {
	newest atomic.Pointer[map[int32]kafkaclient.NodeAddress]
}

func (b *addressBook) nodes() map[int32]kafkaclient.NodeAddress {
	if nodes := b.newest.Load(); nodes != nil {
		return *nodes
	}
	return nil
}

// renewals is how many times within its greatest age an answer is asked for anew.
const renewals = 10

// retryFailed is how long a question that failed is not asked again. Then it is, whatever state waits for it: at rest nothing
// else would, until the next resync.
const retryFailed = 10 * time.Second

// Read returns what was last heard. An answer that is too old while a new one is under way is pending.
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

// heard is what is known of a question: an answer that is not too old, an error, or nothing yet.
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

// callsAtOnce bounds how many live questions are under way together.
const callsAtOnce = 8

// askAll asks every query now. An answer was true at the time it was asked for, or later.
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

// Write hands the command over.
func (p *Polled) Write(_ context.Context, cluster Endpoint, ticket machines.Ticket, command kafkaclient.Command) {
	if member, err := p.member(cluster, ticket.Lifecycle); err == nil {
		member.Submit(poller.Request[kafkaclient.Command]{Number: number(ticket), Command: command})
	}
}

// Answer says what came of the command. A cluster that nobody can connect to was never asked anything.
func (p *Polled) Answer(cluster Endpoint, ticket machines.Ticket) Answer {
	member, err := p.member(cluster, ticket.Lifecycle)
	if err != nil {
		return Answer{}
	}
	o := member.Outcome(number(ticket))
	a := Answer{Ticket: ticket, Text: o.Text}
	switch {
	case o.Result == poller.Waiting:
		a.State = AnswerPending
	case o.At.IsZero():
		return Answer{} // not handed over by this process
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

// Drop ends every call and connection to a cluster that is gone, and forgets it.
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

// number of a request that belongs to the ticket.
func number(t machines.Ticket) poller.Number {
	return poller.Number{Attempt: t.Attempt, State: t.State, Sequence: int(t.Sequence)}
}

// outcome of a command. One that never left is refused without a code: it was not done, and the text says why.
func outcome(err error) poller.Outcome {
	a := AnswerOf(machines.Ticket{}, err)
	switch a.State {
	case AnswerDone:
		return poller.Outcome{Result: poller.Done}
	case AnswerRefused, AnswerFailed:
		return poller.Outcome{Result: poller.Refused, Code: int(a.Code), Text: a.Text}
	default:
		return poller.Outcome{Result: poller.Unknown, Text: a.Text}
	}
}
