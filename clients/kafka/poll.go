package kafka

import (
	"context"
	"time"

	"github.com/detent-dev/detent/clients/poller"
)

// Poller is a cluster as a pass sees it.
type Poller = poller.Poller[Question, Answer, Command]

// Endpoint polls one cluster.
type Endpoint = poller.Endpoint[Question, Answer, Command]

// NewEndpoint polls a cluster through its client. wake is called after each answer;
// closed, if it is not nil, when the endpoint has been closed, to close the client.
func NewEndpoint(c Client, now func() time.Time, wake, closed func()) *Endpoint {
	return poller.New(poller.Options[Question, Answer, Command]{
		Ask: func(ctx context.Context, q Question) (Answer, error) { return Ask(ctx, c, q) },
		Write: func(ctx context.Context, command Command) poller.Outcome {
			return Settle(Execute(ctx, c, command))
		},
		Now: now, Wake: wake, Closed: closed,
	})
}

// NewDirect answers from a client within the call, for a simulated world. memory is what
// the simulated process remembers.
func NewDirect(c Client, now func() time.Time, memory *poller.Memory) Poller {
	return poller.Direct[Question, Answer, Command]{
		Put: func(ctx context.Context, q Question) (Answer, error) { return Ask(ctx, c, q) },
		Write: func(ctx context.Context, command Command) poller.Outcome {
			return Settle(Execute(ctx, c, command))
		},
		Now: now, Memory: memory,
	}
}

// Settle is the outcome that a Writer's error stands for. A request that never left is
// Unknown too: reading settles that as well.
func Settle(err error) poller.Outcome {
	refused, ok := AsRefused(err)
	switch {
	case err == nil:
		return poller.Outcome{Result: poller.Done}
	case ok:
		text := refused.Message
		if text == "" {
			text = refused.Name
		}
		return poller.Outcome{Result: poller.Refused, Code: int(refused.Code), Text: text}
	default:
		return poller.Outcome{Result: poller.Unknown, Text: err.Error()}
	}
}
