package admin_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/admin"
	simulated "github.com/detent-dev/detent/simulator/kafka"
)

func wantUnreadable(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*kafka.Unreadable](err); !ok {
		t.Errorf("err = %v, want unreadable", err)
	}
}

func TestNewWithoutBootstrapAddress(t *testing.T) {
	if _, err := admin.New(admin.Options{}); err == nil {
		t.Error("a client that can reach nothing was made")
	}
}

func TestClientSkipsStoppedBrokers(t *testing.T) {
	w := newWorld(t, "4.1.2")
	c := w.client()
	if _, err := c.Brokers(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.do(func(c *simulated.Cluster) {
		c.StopNode(1, c.Now)
		c.Tick(c.Now + 5_000)
	})
	for _, about := range []kafka.Subject{kafka.AboutBrokers, kafka.AboutFeatures, kafka.AboutQuorum, kafka.AboutPartitions} {
		if _, err := kafka.Ask(t.Context(), c, kafka.Question{About: about}); err != nil {
			t.Errorf("%s with one broker stopped: %v", about, err)
		}
	}
	_, err := c.LogDirs(t.Context(), 1)
	wantUnreadable(t, err)
	f, err := c.Features(t.Context(), 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := f.Supported[1]; ok || len(f.Supported[2]) != 2 {
		t.Errorf("supported = %v, want those of broker 2 alone", f.Supported)
	}
}

func TestClientReconnectsToRestartedBroker(t *testing.T) {
	w := newWorld(t, "4.1.2")
	w.options.Bootstrap = w.options.Bootstrap[:1]
	c := w.client()
	if _, err := c.LogDirs(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	w.do(func(c *simulated.Cluster) {
		c.StopNode(1, c.Now)
		start(t, c, 1, "4.1.2")
		c.Tick(c.Now + 60_000)
	})
	// The open connections are dead now; the client has not noticed.
	if _, err := c.LogDirs(t.Context(), 1); err != nil {
		t.Errorf("log dirs after the restart: %v", err)
	}
	if _, err := c.Quorum(t.Context()); err != nil {
		t.Errorf("quorum after the restart: %v", err)
	}
	if err := c.UpdateFeature(t.Context(), kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: 27, Kind: kafka.Upgrade}); err != nil {
		t.Errorf("writing after the restart: %v", err)
	}
}

func TestClientFailsWhenNothingListens(t *testing.T) {
	w := newWorld(t, "4.1.2")
	w.do(func(c *simulated.Cluster) { c.Unreachable = true })
	c := w.client()
	for _, about := range []kafka.Subject{kafka.AboutBrokers, kafka.AboutFeatures, kafka.AboutQuorum, kafka.AboutPartitions, kafka.AboutLogDirs, kafka.AboutReplicas, kafka.AboutMoves, kafka.AboutConfigs} {
		_, err := kafka.Ask(t.Context(), c, kafka.Question{About: about, Broker: 1})
		wantUnreadable(t, err)
		for line := range strings.Lines(err.Error()) {
			if !strings.Contains(line, "connecting to node-") {
				t.Errorf("asked about %s, says %q, want where to on each line", about, err)
			}
		}
	}
	for name, err := range map[string]error{
		"raise":      c.UpdateFeature(t.Context(), kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: 27, Kind: kafka.Upgrade}),
		"lower":      c.UpdateFeature(t.Context(), kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: 25, Kind: kafka.SafeDowngrade}),
		"unregister": c.UnregisterBroker(t.Context(), 3),
		"reassign":   c.Reassign(t.Context(), []kafka.Move{{Topic: "orders", Replicas: []int32{1, 2}}}),
		"cordon":     c.Cordon(t.Context(), kafka.Cordon{Broker: 3, Cordoned: true}),
	} {
		t.Run(name, func(t *testing.T) { wantUnreadable(t, err) })
	}
}

// TestClientWriteWithLostAnswer loses the answer to each write, once after it was executed
// and once before.
func TestClientWriteWithLostAnswer(t *testing.T) {
	lower := kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: 25, Kind: kafka.SafeDowngrade}
	raise := kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: 27, Kind: kafka.Upgrade}
	writes := map[string]struct {
		request simulated.Request
		write   func(ctx context.Context, c kafka.Writer) error
		prepare func(c *simulated.Cluster)
		done    func(c *simulated.Cluster) bool
	}{
		"lower": {
			simulated.RequestUpdateFeatures, func(ctx context.Context, c kafka.Writer) error { return c.UpdateFeature(ctx, lower) },
			func(*simulated.Cluster) {}, func(c *simulated.Cluster) bool { return c.Level(kafka.MetadataVersion) == 25 },
		},
		"raise": {
			simulated.RequestUpdateFeatures, func(ctx context.Context, c kafka.Writer) error { return c.UpdateFeature(ctx, raise) },
			func(c *simulated.Cluster) {
				if err := (simulated.Memory{Cluster: c}).UpdateFeature(context.Background(), lower); err != nil {
					t.Error(err)
				}
			},
			func(c *simulated.Cluster) bool { return c.Level(kafka.MetadataVersion) == 27 },
		},
		"unregister": {
			simulated.RequestUnregisterBroker, func(ctx context.Context, c kafka.Writer) error { return c.UnregisterBroker(ctx, 3) },
			func(*simulated.Cluster) {}, func(c *simulated.Cluster) bool { _, ok := c.Registration(3); return !ok },
		},
		"reassign": {
			simulated.RequestReassign, func(ctx context.Context, c kafka.Writer) error {
				return c.Reassign(ctx, []kafka.Move{{Topic: "orders", Replicas: []int32{1, 2}}})
			},
			func(*simulated.Cluster) {}, func(c *simulated.Cluster) bool { return len(c.Partitions[0].Replicas) == 2 },
		},
		"cordon": {
			simulated.RequestAlterConfigs, func(ctx context.Context, c kafka.Writer) error {
				return c.Cordon(ctx, kafka.Cordon{Broker: 3, Cordoned: true})
			},
			func(*simulated.Cluster) {}, func(c *simulated.Cluster) bool { return len(c.Cordoned) == 1 },
		},
	}
	for name, tc := range writes {
		for kind, wantDone := range map[simulated.FaultKind]bool{simulated.LoseReply: true, simulated.Hang: false} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, "4.1.2")
				w.options.Timeout, w.options.AttemptTimeout = 400*time.Millisecond, 200*time.Millisecond
				w.do(func(c *simulated.Cluster) {
					tc.prepare(c)
					c.AddFault(simulated.Fault{Request: tc.request, Target: simulated.None, Kind: kind})
				})
				if err := tc.write(t.Context(), w.client()); !kafka.IsOutcomeUnknown(err) {
					t.Errorf("err = %v, want an unknown outcome", err)
				}
				w.do(func(c *simulated.Cluster) {
					if tc.done(c) != wantDone {
						t.Errorf("done = %v, want %v", !wantDone, wantDone)
					}
				})
			})
		}
	}
}

// A refusal means that nothing was executed. After another request of the same call it does not.
func TestClientAlterRefusedInPart(t *testing.T) {
	good := kafka.Alteration{Set: map[string]string{"compression.type": "zstd"}}
	bad := kafka.Alteration{Broker: new(int32(2)), Set: map[string]string{"message.max.bytes": "many"}}
	const words = "many"
	for name, tc := range map[string]struct {
		alterations      []kafka.Alteration
		refused, unknown bool
	}{
		"the only one":        {alterations: []kafka.Alteration{bad}, refused: true},
		"the first of two":    {alterations: []kafka.Alteration{bad, good}, refused: true},
		"after one that took": {alterations: []kafka.Alteration{good, bad}, unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "4.1.2")
			clients := map[string]kafka.Writer{"wire": w.client()}
			w.do(func(c *simulated.Cluster) { clients["memory"] = simulated.Memory{Cluster: c.Clone()} })
			for kind, c := range clients {
				err := c.Alter(t.Context(), tc.alterations)
				_, refused := kafka.AsRefused(err)
				if refused != tc.refused || kafka.IsOutcomeUnknown(err) != tc.unknown || !strings.Contains(err.Error(), words) {
					t.Errorf("%s: err = %v, want refused %v, unknown %v, with Kafka's words", kind, err, tc.refused, tc.unknown)
				}
			}
		})
	}
}

// TestClientSendsWritesOnce counts the requests that arrive while every answer is lost.
func TestClientSendsWritesOnce(t *testing.T) {
	w := newWorld(t, "4.1.2")
	w.options.Timeout, w.options.AttemptTimeout = 400*time.Millisecond, 100*time.Millisecond
	const plenty = 100
	w.do(func(c *simulated.Cluster) {
		c.AddFault(simulated.Fault{Request: simulated.RequestUpdateFeatures, Target: simulated.None, Kind: simulated.Hang, Times: plenty})
		c.AddFault(simulated.Fault{Request: simulated.RequestUnregisterBroker, Target: simulated.None, Kind: simulated.Hang, Times: plenty})
	})
	c := w.client()
	if err := c.UpdateFeature(t.Context(), kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: 27, Kind: kafka.Upgrade}); err == nil {
		t.Error("raised")
	}
	if err := c.UnregisterBroker(t.Context(), 3); err == nil {
		t.Error("unregistered")
	}
	w.do(func(c *simulated.Cluster) {
		for _, f := range c.Faults {
			if f.Times != plenty-1 {
				t.Errorf("%s arrived %d times", f.Request, plenty-f.Times)
			}
		}
	})
}

// TestClientCallsEndWithinTimeout has all brokers of a cluster accept connections and never
// answer, the slowest failure of a network.
func TestClientCallsEndWithinTimeout(t *testing.T) {
	var listeners []string
	for range 3 {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		var conns []net.Conn
		wg.Go(func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				mu.Lock()
				conns = append(conns, conn)
				mu.Unlock()
			}
		})
		t.Cleanup(func() {
			_ = l.Close() // ends the loop above
			wg.Wait()
			for _, conn := range conns {
				_ = conn.Close()
			}
		})
		listeners = append(listeners, l.Addr().String())
	}
	const limit = 300 * time.Millisecond
	c, err := admin.New(admin.Options{Bootstrap: listeners, Timeout: limit, AttemptTimeout: 120 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	calls := map[string]func() error{
		"brokers":    func() error { _, err := c.Brokers(t.Context()); return err },
		"quorum":     func() error { _, err := c.Quorum(t.Context()); return err },
		"partitions": func() error { _, err := c.Partitions(t.Context()); return err },
		"log dirs":   func() error { _, err := c.LogDirs(t.Context(), 1); return err },
		"unregister": func() error { return c.UnregisterBroker(t.Context(), 1) },
		"replicas":   func() error { _, err := c.Replicas(t.Context(), 1); return err },
		"reassign": func() error {
			return c.Reassign(t.Context(), []kafka.Move{{Topic: "orders", Replicas: []int32{1, 2}}})
		},
		"cordon": func() error { return c.Cordon(t.Context(), kafka.Cordon{Broker: 1, Cordoned: true}) },
		"raise": func() error {
			return c.UpdateFeature(t.Context(), kafka.FeatureUpdate{Name: kafka.MetadataVersion, Level: 27, Kind: kafka.Upgrade})
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			wantUnreadable(t, call())
			if took := time.Since(began); took > limit+200*time.Millisecond {
				t.Errorf("took %v, limit %v", took, limit)
			}
		})
	}
}

func TestClientCallEndsWithContext(t *testing.T) {
	w := newWorld(t, "4.1.2")
	w.options.Timeout, w.options.AttemptTimeout = time.Minute, time.Minute
	w.do(func(c *simulated.Cluster) {
		c.AddFault(simulated.Fault{Request: simulated.RequestDescribeCluster, Target: simulated.None, Kind: simulated.Hang, Times: 1})
	})
	c := w.client()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := c.Brokers(ctx)
	wantUnreadable(t, err)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v after the caller gave up", took)
	}
	if _, err := c.Brokers(t.Context()); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestClientCloseCancelsCallUnderWay(t *testing.T) {
	w := newWorld(t, "4.1.2")
	w.options.Timeout, w.options.AttemptTimeout = time.Minute, time.Minute
	w.do(func(c *simulated.Cluster) {
		c.AddFault(simulated.Fault{Request: simulated.RequestDescribeQuorum, Target: simulated.None, Kind: simulated.Hang})
	})
	c := w.client()
	asked := make(chan error)
	go func() {
		_, err := c.Quorum(t.Context())
		asked <- err
	}()
	time.AfterFunc(100*time.Millisecond, c.Close)
	select {
	case err := <-asked:
		wantUnreadable(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("the call went on after Close")
	}
	c.Close()
	_, err := c.Brokers(t.Context())
	wantUnreadable(t, err)
	wantUnreadable(t, c.UnregisterBroker(t.Context(), 1))
}

func TestClientCallWaitsForAnotherWithinTimeout(t *testing.T) {
	w := newWorld(t, "4.1.2")
	w.options.Timeout, w.options.AttemptTimeout = 500*time.Millisecond, 500*time.Millisecond
	w.do(func(c *simulated.Cluster) {
		c.AddFault(simulated.Fault{Request: simulated.RequestDescribeCluster, Target: simulated.None, Kind: simulated.Hang})
	})
	c := w.client()
	began := time.Now()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_, err := c.Brokers(t.Context())
			wantUnreadable(t, err)
		})
	}
	wg.Wait()
	if took := time.Since(began); took > time.Second {
		t.Errorf("four calls at once took %v, each may take 500ms", took)
	}
}

func TestClientPartitionsOfTopicWithUnreadableMinimum(t *testing.T) {
	w := newWorld(t, "4.1.2")
	w.do(func(c *simulated.Cluster) {
		c.AddFault(simulated.Fault{Request: simulated.RequestDescribeConfigs, Target: simulated.None, Kind: simulated.Refuse, Code: kafka.CodeUnknownTopicOrPartition})
	})
	p, err := w.client().Partitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r := kafka.PartitionsAtRisk(p.Suspect, 1); len(r.Unknown) != 1 || r.Clear() {
		t.Errorf("risks of broker 1 = %+v, want orders-0 unknown", r)
	}
	if r := kafka.PartitionsAtRisk(p.Suspect, 9); !r.Clear() {
		t.Errorf("risks of a broker that holds nothing = %+v", r)
	}
}

func TestClientFeaturesFailsForIncompleteLevels(t *testing.T) {
	w := newWorld(t, "4.1.2")
	w.do(func(c *simulated.Cluster) { c.Finalized = nil })
	_, err := w.client().Features(t.Context())
	wantUnreadable(t, err)
}

func TestClientLogDirsFailsForMissingPermission(t *testing.T) {
	w := newWorld(t, "4.1.2")
	w.do(func(c *simulated.Cluster) {
		c.AddFault(simulated.Fault{Request: simulated.RequestDescribeLogDirs, Target: simulated.None, Kind: simulated.Refuse, Code: kafka.CodeClusterAuthorizationFailed})
	})
	dirs, err := w.client().LogDirs(t.Context(), 2)
	if r, ok := kafka.AsRefused(err); !ok || r.Name != "CLUSTER_AUTHORIZATION_FAILED" {
		t.Errorf("err = %v", err)
	}
	if dirs.Empty() {
		t.Error("what was refused counts as empty")
	}
	if _, err := w.client().LogDirs(t.Context(), 77); err == nil || dirs.Empty() {
		t.Error("a broker that does not exist has an empty disk")
	}
}
