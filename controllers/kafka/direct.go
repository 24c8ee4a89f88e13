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

// Direct is an Observer that sends every request during the call, so that its users (plans and tests) are deterministic. It must
// not be used in a manager, whose reconciles must not block.
type Direct struct {
	// Connect returns the client of a cluster. Required.
	Connect func(Endpoint) (kafkaclient.Client, error)

	mu      sync.Mutex
	answers map[machines.RequestID]Answer
}

var _ Observer = &Direct{}

// Read sends every query now.
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

// Write executes the command now. Another command with the same request ID is ignored.
func (d *Direct) Write(ctx context.Context, cluster Endpoint, requestID machines.RequestID, command kafkaclient.Command) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, given := d.answers[requestID]; given {
		return
	}
	c, err := d.Connect(cluster)
	if err == nil {
		err = kafkaclient.Execute(ctx, c, command)
	}
	if d.answers == nil {
		d.answers = map[machines.RequestID]Answer{}
	}
	// A lifecycle of an object has at most one write in flight; its earlier answers are not needed any more.
	maps.DeleteFunc(d.answers, func(t machines.RequestID, _ Answer) bool {
		return t.UID == requestID.UID && t.Lifecycle == requestID.Lifecycle
	})
	d.answers[requestID] = AnswerOf(requestID, err)
}

// Drop removes the answers of a deleted cluster.
func (d *Direct) Drop(cluster types.UID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.answers, func(t machines.RequestID, _ Answer) bool { return t.UID == string(cluster) })
}

// Answer returns the answer of the last command of the request ID's lifecycle, if the request ID is that of the command.
func (d *Direct) Answer(_ Endpoint, requestID machines.RequestID) Answer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answers[requestID]
}
