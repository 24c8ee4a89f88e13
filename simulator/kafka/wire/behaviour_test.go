package wire_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/admin"
	"github.com/detent-dev/detent/clients/kafka/kafkatest"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kafka/wire"
)

func TestBehavioursInMemory(t *testing.T) {
	for _, b := range kafkatest.Behaviours() {
		t.Run(b.Name, func(t *testing.T) {
			b.Run(t.Context(), t, func(t *testing.T, s kafkatest.Setup) kafkatest.World { return newWorld(t, s) })
		})
	}
}

func TestBehavioursOnSockets(t *testing.T) {
	for _, b := range kafkatest.Behaviours() {
		t.Run(b.Name, func(t *testing.T) {
			b.Run(t.Context(), t, func(t *testing.T, s kafkatest.Setup) kafkatest.World { return newSocketWorld(t, s) })
		})
	}
}

// world is a simulated cluster on a virtual clock.
type world struct {
	t     *testing.T
	setup kafkatest.Setup
	// with runs something on the cluster.
	with func(func(c *kafka.Cluster))
	// formatted are the levels with which storage was formatted anew.
	formatted map[int32]int16
	// in memory there is no server.
	server *wire.Server
	client client.Client
}

var _ kafkatest.World = (*world)(nil)

func newCluster(t *testing.T, s kafkatest.Setup) *kafka.Cluster {
	var binaries []kafka.Binary
	var formatted []kafka.FeatureLevel
	for _, r := range kafkatest.Releases() {
		binary := kafka.Binary{Version: r.Version}
		for _, name := range slices.Sorted(maps.Keys(r.Supported)) {
			binary.Features = append(binary.Features, kafka.FeatureRange{Name: name, Min: r.Supported[name].Min, Max: r.Supported[name].Max})
		}
		binaries = append(binaries, binary)
		for name, level := range r.Formatted {
			if r.Version == s.Release {
				formatted = append(formatted, kafka.FeatureLevel{Name: name, Level: level})
			}
		}
	}
	c := kafka.New("a-cluster", binaries, kafka.DefaultSettings())
	c.SetVoters(s.Nodes...)
	c.Format(formatted...)
	return c
}

func newWorld(t *testing.T, s kafkatest.Setup) *world {
	c := newCluster(t, s)
	w := &world{t: t, setup: s, with: func(fn func(*kafka.Cluster)) { fn(c) }, client: kafka.Memory{Cluster: c}}
	w.boot()
	return w
}

func newSocketWorld(t *testing.T, s kafkatest.Setup) *world {
	server, err := wire.NewServer(newCluster(t, s), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	w := &world{t: t, setup: s, server: server, with: func(fn func(*kafka.Cluster)) {
		if err := server.Do(fn); err != nil {
			t.Fatal(err)
		}
	}}
	w.boot()
	c, err := admin.New(admin.Options{Bootstrap: server.Bootstrap(), Nodes: server.Nodes, Dial: server.DialContext})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	w.client = c
	return w
}

func (w *world) boot() {
	w.with(func(c *kafka.Cluster) {
		for _, id := range slices.Concat(w.setup.Nodes, w.setup.Brokers) {
			if err := c.StartNode(id, w.start(id, w.setup.Release), c.Now); err != nil {
				w.t.Fatal(err)
			}
		}
		c.Tick(c.Now + 60_000)
	})
}

func (w *world) start(id int32, release string) kafka.Start {
	return kafka.Start{
		Version: release, Broker: true, Controller: slices.Contains(w.setup.Nodes, id),
		SnapshotInterval: w.setup.SnapshotInterval.Milliseconds(), Formatted: w.formatted[id], Static: kafka.StaticValues(w.setup.Properties),
		Host: fmt.Sprintf("node-%d.kafka.test", id), Port: 9091, ControllerPort: 9090,
	}
}

func (w *world) Client() client.Client { return w.client }

func (w *world) ClientThrough(id int32) (client.Client, error) {
	if w.server == nil {
		return w.client, nil
	}
	c, err := admin.New(admin.Options{Bootstrap: []string{fmt.Sprintf("node-%d.kafka.test:9091", id)}, Nodes: w.server.Nodes, Dial: w.server.DialContext})
	if err == nil {
		w.t.Cleanup(c.Close)
	}
	return c, err
}

func (w *world) CutOff(_ context.Context, id int32) error {
	w.with(func(c *kafka.Cluster) { c.CutOff(id) })
	return nil
}

func (w *world) Reconnect(_ context.Context, id int32) error {
	w.with(func(c *kafka.Cluster) { c.Reconnect(id) })
	return nil
}

func (w *world) Send(ctx context.Context, via int32, request kmsg.Request) (resp kmsg.Response, err error) {
	if w.server != nil {
		return kafkatest.Send(ctx, w.server.Addr(via), nil, request)
	}
	w.with(func(c *kafka.Cluster) { resp, err = wire.Answer(c, via, request) })
	return resp, err
}

func (w *world) Start(ctx context.Context, id int32, release string) (err error) {
	w.with(func(c *kafka.Cluster) { err = c.StartNode(id, w.start(id, release), c.Now) })
	if err != nil {
		return err
	}
	return w.Pass(ctx, "the node is in sync", func(context.Context) (synced bool, err error) {
		w.with(func(c *kafka.Cluster) {
			n, _ := c.Node(id)
			synced = n.Process == kafka.Running && c.Now >= n.SyncedAt && c.Leader != kafka.None
			if n.Process == kafka.Dead {
				err = &kafkatest.Died{Node: id, Words: n.LastWords}
			}
		})
		return synced, err
	})
}

func (w *world) Format(_ context.Context, id int32, release string, metadata int16) (err error) {
	for _, r := range kafkatest.Releases() {
		if metadata == 0 && r.Version == release {
			metadata = r.Formatted[client.MetadataVersion]
		}
	}
	w.with(func(c *kafka.Cluster) { err = c.WipeNode(id, c.Now) })
	if w.formatted == nil {
		w.formatted = map[int32]int16{}
	}
	w.formatted[id] = metadata
	return err
}

func (w *world) Stop(_ context.Context, id int32) error {
	w.with(func(c *kafka.Cluster) {
		c.StopNode(id, c.Now)
		c.Tick(c.Now + c.Settings.Election)
	})
	return nil
}

func (w *world) Kill(_ context.Context, id int32) error {
	w.with(func(c *kafka.Cluster) {
		c.KillNode(id, c.Now)
		c.Tick(c.Now + c.Settings.Election)
	})
	return nil
}

func (w *world) Alive(id int32) (alive bool) {
	w.with(func(c *kafka.Cluster) {
		n, _ := c.Node(id)
		alive = n.Up()
	})
	return alive
}

func (w *world) CreateTopic(_ context.Context, topic string, minISR int32, replicas ...int32) error {
	w.with(func(c *kafka.Cluster) { c.CreatePartition(topic, 0, minISR, replicas...) })
	return nil
}

func (w *world) PassSnapshotInterval(context.Context) error {
	w.with(func(c *kafka.Cluster) { c.Tick(c.Now + w.setup.SnapshotInterval.Milliseconds()) })
	return nil
}

// Pass lets virtual time pass, a second at a time, until the condition is true, for at most 120 s.
func (w *world) Pass(ctx context.Context, what string, condition func(ctx context.Context) (bool, error)) error {
	for range 120 {
		done, err := condition(ctx)
		if done || err != nil {
			return err
		}
		w.with(func(c *kafka.Cluster) { c.Tick(c.Now + time.Second.Milliseconds()) })
	}
	return errors.New("timed out waiting until " + what)
}
