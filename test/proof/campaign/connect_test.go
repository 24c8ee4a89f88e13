package campaign_test

import (
	"context"
	"net/http"
	"sync"
	"time"

	connectclient "github.com/detent-dev/detent/clients/connect"
	connectrest "github.com/detent-dev/detent/clients/connect/rest"
	"github.com/detent-dev/detent/simulator/connect"
)

// groups are the simulated Connect workers, by namespace.
type groups struct {
	mu  sync.Mutex
	all map[string]*group
}

// group are the workers of one resource. Its time advances only when it is accessed.
type group struct {
	mu      sync.Mutex
	cluster *connect.Cluster
	began   time.Time
	// changes are the changes of offsets that were executed.
	changes []string
}

func (w *groups) begin(namespace string) *group {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := &group{cluster: connect.New(connect.DefaultSettings(), 1, false), began: time.Now()}
	g.cluster.CreateTopic("orders", 1)
	g.cluster.Produce("orders", 100)
	w.all[namespace] = g
	return g
}

func (w *groups) of(namespace string) *group {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all[namespace]
}

func (w *groups) end(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, namespace)
}

// RoundTrip implements http.RoundTripper.
func (g *group) RoundTrip(r *http.Request) (*http.Response, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cluster.Tick(time.Since(g.began).Milliseconds() * speed)
	return connect.Transport{Cluster: g.cluster, Worker: g.cluster.Any}.RoundTrip(r)
}

func (g *group) client() (*connectrest.Client, error) {
	return connectrest.New(connectrest.Options{Address: "connect:8083", Transport: g, ReadTimeout: time.Second})
}

// connectCaller is a client of the workers at whose changes faults are injected.
type connectCaller struct {
	connectclient.Client
	group  *group
	around func(string, func() error) error
}

// command injects a fault at a command. Its error says whether the command was sent, as that of a real client does.
func (c *connectCaller) command(what string, do func() error) error {
	sent := false
	err := c.around(what, func() error {
		sent = true
		return do()
	})
	if err == nil {
		return nil
	}
	return connectclient.WriteFailure(what, err, sent)
}

// change counts a change of offsets that Connect has executed.
func (c *connectCaller) change(what string, do func() error) error {
	return c.command(what, func() error {
		err := do()
		if err == nil {
			c.group.mu.Lock()
			defer c.group.mu.Unlock()
			c.group.changes = append(c.group.changes, what)
		}
		return err
	})
}

// AlterOffsets implements connectclient.Writer.
func (c *connectCaller) AlterOffsets(ctx context.Context, connector, body string) (message string, err error) {
	err = c.change("alter the offsets", func() (err error) {
		message, err = c.Client.AlterOffsets(ctx, connector, body)
		return err
	})
	return message, err
}

// ResetOffsets implements connectclient.Writer.
func (c *connectCaller) ResetOffsets(ctx context.Context, connector string) (message string, err error) {
	err = c.change("reset the offsets", func() (err error) {
		message, err = c.Client.ResetOffsets(ctx, connector)
		return err
	})
	return message, err
}

// Stop implements connectclient.Writer.
func (c *connectCaller) Stop(ctx context.Context, connector string) error {
	return c.command("stop the connector", func() error { return c.Client.Stop(ctx, connector) })
}
