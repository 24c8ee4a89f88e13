package admin_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/admin"
	simulated "github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kafka/wire"
)

// world is a simulated cluster of three dual-role nodes behind sockets, whose brokers
// advertise names that only its dialler can resolve.
type world struct {
	t       testing.TB
	server  *wire.Server
	options admin.Options
}

func newWorld(t testing.TB, version string) *world {
	t.Helper()
	metadata := func(version string, low, high int16) simulated.Binary {
		return simulated.Binary{Version: version, Features: []simulated.FeatureRange{{Name: "group.version", Max: 1}, {Name: kafka.MetadataVersion, Min: low, Max: high}}}
	}
	binaries := []simulated.Binary{metadata("3.9.2", 1, 21), metadata("4.0.2", 7, 25), metadata("4.1.2", 7, 27)}
	c := simulated.New("a-cluster", binaries, simulated.DefaultSettings())
	c.SetVoters(1, 2, 3)
	c.Format(simulated.FeatureLevel{Name: kafka.MetadataVersion, Level: map[string]int16{"3.9.2": 21, "4.0.2": 25, "4.1.2": 27}[version]})
	w := &world{t: t}
	for id := int32(1); id <= 3; id++ {
		start(t, c, id, version)
	}
	c.Tick(100_000)
	c.CreatePartition("orders", 0, 2, 1, 2, 3)
	c.CreatePartition("single", 0, 1, 2)
	server, err := wire.NewServer(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	w.server = server
	w.options = admin.Options{Bootstrap: server.Bootstrap(), Nodes: server.Nodes, Dial: server.DialContext, Timeout: 3 * time.Second, AttemptTimeout: time.Second}
	return w
}

func start(t testing.TB, c *simulated.Cluster, id int32, version string) {
	t.Helper()
	host := map[int32]string{1: "node-1.kafka.test", 2: "node-2.kafka.test", 3: "node-3.kafka.test"}[id]
	if err := c.StartNode(id, simulated.Start{Version: version, Broker: true, Controller: true, Host: host, Port: 9091, ControllerPort: 9090}, c.Now); err != nil {
		t.Fatal(err)
	}
}

func (w *world) do(fn func(c *simulated.Cluster)) {
	w.t.Helper()
	if err := w.server.Do(fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) client() *admin.Client {
	w.t.Helper()
	c, err := admin.New(w.options)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c
}

// TestClientReadsEqualTheModel reads everything from the model directly and through the
// sockets, and requires the same result.
func TestClientReadsEqualTheModel(t *testing.T) {
	questions := []kafka.Question{
		{About: kafka.AboutFeatures}, {About: kafka.AboutSupport, Broker: 2}, {About: kafka.AboutBrokers}, {About: kafka.AboutQuorum},
		{About: kafka.AboutPartitions}, {About: kafka.AboutLogDirs, Broker: 2}, {About: kafka.AboutReplicas, Broker: 3}, {About: kafka.AboutMoves},
		{About: kafka.AboutConfigs, Broker: 3},
		{About: kafka.AboutMember, Broker: 1}, {About: kafka.AboutMember, Broker: 3},
	}
	for _, version := range []string{"3.9.2", "4.1.2"} {
		w := newWorld(t, version)
		w.do(func(c *simulated.Cluster) {
			c.KillNode(3, c.Now)
			c.Tick(c.Now + 20_000)
			start(t, c, 3, version)
			c.Tick(c.Now + 20_000)
			c.SetLagging("orders", 0, 3, true)
			if _, err := c.Reassign(1, []kafka.Move{{Topic: "orders", Replicas: []int32{1, 3}}}); err != nil {
				t.Fatal(err)
			}
		})
		client := w.client()
		for _, q := range questions {
			t.Run(version+" "+string(q.About), func(t *testing.T) {
				var want kafka.Answer
				var wantErr error
				w.do(func(c *simulated.Cluster) {
					want, wantErr = kafka.Ask(t.Context(), simulated.Memory{Cluster: c}, q)
				})
				got, err := kafka.Ask(t.Context(), client, q)
				if err != nil || wantErr != nil {
					t.Fatalf("err = %v, the model's = %v", err, wantErr)
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("(-model +sockets):\n%s", diff)
				}
			})
		}
	}
}
