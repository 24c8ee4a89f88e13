package kafka

import (
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
)

// Direct is an Observer that asks and commands in the same pass, so that whatever runs on it is deterministic: plans and
// tests. It has no place in a manager, whose passes never wait.
type Direct struct {
	// Connect finds the client of a cluster. Demanded.
	Connect func(Endpoint) (kafkaclient.Client, error)

	mu      sync.Mutex
	answers map[machines.Ticket]Answer
}

var _ Observer = &Direct{}

// Read asks every query now.
func (d *Direct) Read(ctx context.Context, cluster Endpoint, queries []Query, _ bool, now time.Time) []Reading {
	out := make([]Reading, len(queries))
	c, err := d.Connect(cluster)
	for i, q := range queries {
		if err != nil {
			out[i].Err = err
			continue
		}
		out[i].Answer, out[i].Err = kafkaclient.Ask(ctx, c, q.Question)
		out[i].At = now
	}
	return out
}

// Write commands now.
func (d *Direct) Write(ctx context.Context, cluster Endpoint, ticket machines.Ticket, command kafkaclient.Command) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, given := d.answers[ticket]; given {
		return
	}
	c, err := d.Connect(cluster)
	if err == nil {
		err = kafkaclient.Execute(ctx, c, command)
	}
	if d.answers == nil {
		d.answers = map[machines.Ticket]Answer{}
	}
	// An object has one write of a lifecycle under way; what it asked before is of no use to anybody.
	maps.DeleteFunc(d.answers, func(t machines.Ticket, _ Answer) bool {
		return t.UID == ticket.UID && t.Lifecycle == ticket.Lifecycle
	})
	d.answers[ticket] = AnswerOf(ticket, err)
}

// Drop forgets the answers of a cluster that is gone.
func (d *Direct) Drop(cluster types.UID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.answers, func(t machines.Ticket, _ Answer) bool { return t.UID == string(cluster) })
}

// Answer of the last command of the ticket's lifecycle, if it was this one.
func (d *Direct) Answer(_ Endpoint, ticket machines.Ticket) Answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answers[ticket]
}
