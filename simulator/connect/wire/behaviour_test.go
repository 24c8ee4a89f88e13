package wire_test

import (
	"context"
	"errors"
	"testing"
	"time"

	client "github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/clients/connect/connecttest"
	"github.com/detent-dev/detent/clients/connect/rest"
	"github.com/detent-dev/detent/simulator/connect"
	"github.com/detent-dev/detent/simulator/connect/wire"
)

func TestBehavioursOnSockets(t *testing.T) {
	for _, b := range connecttest.Behaviours() {
		t.Run(b.Name, func(t *testing.T) {
			b.Run(t.Context(), t, func(t *testing.T, b connecttest.Behaviour) connecttest.World { return newWorld(t, b.Setup) })
		})
	}
}

// world is simulated workers on a virtual clock.
type world struct {
	t       *testing.T
	server  *wire.Server
	clients []client.Client
}

var _ connecttest.World = (*world)(nil)

func newWorld(t *testing.T, s connecttest.Setup) *world {
	w := &world{t: t}
	settings := connect.DefaultSettings()
	if s.Release == "3.9.2" {
		settings.Forward = 0
	}
	c := connect.New(settings, s.Workers, s.ExactlyOnce)
	for i := range c.Workers {
		c.Workers[i].ExactlyOnce = s.StartsExactlyOnce(i)
	}
	c.CreateTopic(w.Topic(), connecttest.Partitions)
	server, err := wire.NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	w.server = server
	t.Cleanup(server.Close)
	for i := range s.Workers {
		// A request that the workers block ends in virtual time; only one without an answer takes this time.
		rest, err := rest.New(rest.Options{Address: server.Addr(i), ReadTimeout: time.Second, WriteTimeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(rest.Close)
		w.clients = append(w.clients, rest)
	}
	return w
}

func (w *world) do(fn func(c *connect.Cluster)) error { return w.server.Do(fn) }

func (w *world) Client(worker int) client.Client { return w.clients[worker] }
func (w *world) Bootstrap() string               { return "kafka:9092" }
func (w *world) Source() string                  { return "a" }
func (w *world) Topic() string                   { return "orders" }

func (w *world) Produce(_ context.Context, records int) error {
	return w.do(func(c *connect.Cluster) {
		c.Produce(w.Topic(), int64(records))
		c.Tick(c.Now + 100)
	})
}

func (w *world) Mirrored(context.Context) (n int, err error) {
	err = w.do(func(c *connect.Cluster) { n = int(c.Mirrored(connecttest.Name(w, connecttest.Source))) })
	return n, err
}

func (w *world) FreezeWhileMirroring(_ context.Context, worker int) error {
	return w.do(func(c *connect.Cluster) {
		c.Tick(c.Now + c.Settings.Rebalance)
		for range 2 { // a commit ends at most one of them
			c.Produce(w.Topic(), 5)
			c.Tick(c.Now + 1)
		}
		c.Freeze(worker)
	})
}

func (w *world) Thaw(_ context.Context, worker int) error {
	return w.do(func(c *connect.Cluster) { c.Thaw(worker) })
}

func (w *world) Kill(_ context.Context, worker int) error {
	return w.do(func(c *connect.Cluster) { c.Kill(worker) })
}

// Pass lets virtual time pass, 100 ms at a time, until the condition is true, for at most 120 s.
func (w *world) Pass(ctx context.Context, what string, condition func(ctx context.Context) (bool, error)) error {
	for range 1200 {
		done, err := condition(ctx)
		if done || err != nil {
			return err
		}
		if err := w.do(func(c *connect.Cluster) { c.Tick(c.Now + 100) }); err != nil {
			return err
		}
	}
	return errors.New("timed out waiting until " + what)
}
