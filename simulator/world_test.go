package simulator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/detent-dev/detent/clients/kafka/admin"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/kafka"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// living is a World with three controllers and three brokers, at tenfold speed.
type living struct {
	*simulator.World
	t     *testing.T
	clock *clocktesting.FakeClock
	rig   *rig
}

func newWorld(t *testing.T) *living {
	t.Helper()
	clk := clocktesting.NewFakeClock(time.Date(2026, 11, 20, 8, 31, 2, 0, time.UTC))
	l := &living{World: simulator.NewWorld(options(t), clk, 10), t: t, clock: clk, rig: newRig(t)}
	t.Cleanup(l.Close)
	l.rig.create(separate("4.1.1")...)
	l.run(60 * time.Second)
	return l
}

// run lets simulated time pass.
func (l *living) run(d time.Duration) {
	for end := l.clock.Now().Add(d / 10); l.clock.Now().Before(end); {
		l.clock.Step(25 * time.Millisecond)
		for name, p := range l.rig.pods {
			out := l.SyncPod(p.pod, p.mounts, []kubelet.Node{{Name: "n1"}})
			if out.Status != nil {
				p.pod.Status = *out.Status
			}
			if out.Bind != "" {
				p.pod.Spec.NodeName = out.Bind
			}
			if out.Remove {
				delete(l.rig.pods, name)
				l.PodGone(keyOf(name))
			}
		}
	}
}

func TestWorldDialContextByClusterNames(t *testing.T) {
	l := newWorld(t)
	if got := l.rig.ready(); got != 6 {
		t.Fatalf("%d pods are ready after a simulated minute, want 6", got)
	}
	tests := map[string]struct {
		address string
		want    string
	}{
		"the bootstrap service":              {"orders-kafka-bootstrap.prod.svc:9091", ""},
		"with the cluster's domain":          {"orders-kafka-bootstrap.prod.svc.cluster.local:9092", ""},
		"without svc":                        {"orders-kafka-bootstrap.prod:9092", ""},
		"a broker's pod":                     {"orders-broker-4.orders-kafka-brokers.prod.svc:9091", ""},
		"a controller's pod does not listen": {"orders-controller-0.orders-kafka-brokers.prod.svc:9091", "connection refused: orders-controller-0 does not listen"},
		"a pod that does not exist":          {"orders-broker-9.orders-kafka-brokers.prod.svc:9091", "no such host: there is no pod prod/orders-broker-9"},
		"another namespace":                  {"orders-kafka-bootstrap.stage.svc:9091", "no such host: there is no Kafka stage/orders"},
		"another service":                    {"orders-web.prod.svc:9091", "no such host: orders-web.prod.svc"},
		"a host outside":                     {"www.example.com.:9091", "no such host"},
		"an address":                         {"10.0.0.1:9091", "no such host"},
		"no port":                            {"orders-kafka-bootstrap.prod.svc", "is not host:port"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			conn, err := l.DialContext(t.Context(), "tcp", tc.address)
			if tc.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if host, _, _ := net.SplitHostPort(conn.RemoteAddr().String()); host != "127.0.0.1" {
					t.Errorf("connected to %s", conn.RemoteAddr())
				}
				conn.Close()
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestWorldProxy(t *testing.T) {
	l := newWorld(t)
	server := httptest.NewServer(l.Proxy())
	defer server.Close()
	client, err := admin.New(admin.Options{
		Bootstrap: []string{"orders-kafka-bootstrap.prod.svc:9091"},
		Dial: func(ctx context.Context, _, address string) (net.Conn, error) {
			return connect(ctx, server.Listener.Addr().String(), address)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	brokers, err := client.Brokers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(brokers.Brokers) != 3 || brokers.ClusterID != "c1" {
		t.Errorf("brokers: %+v", brokers)
	}
	quorum, err := client.Quorum(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(quorum.Voters) != 3 {
		t.Errorf("voters: %+v", quorum.Voters)
	}

	// The listener of a deleted pod closes, and opens again under the same name.
	specs := separate("4.1.1")
	l.rig.delete(specs[4])
	l.run(3 * time.Second)
	if _, err := client.LogDirs(t.Context(), 4); err == nil {
		t.Error("a broker without a pod answers")
	}
	l.rig.create(specs[4])
	l.run(20 * time.Second)
	if _, err := client.LogDirs(t.Context(), 4); err != nil {
		t.Errorf("after its restart broker 4 does not answer: %v", err)
	}
}

func connect(ctx context.Context, proxy, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", proxy)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, address)
	var answer strings.Builder
	for !strings.HasSuffix(answer.String(), "\r\n\r\n") { // nothing after it may be read
		if _, err := io.CopyN(&answer, conn, 1); err != nil {
			return nil, err
		}
	}
	if !strings.Contains(answer.String(), " 200 ") {
		return nil, errors.New(answer.String())
	}
	return conn, nil
}

func TestWorldProxyRefusesEverythingElse(t *testing.T) {
	l := newWorld(t)
	server := httptest.NewServer(l.Proxy())
	defer server.Close()
	recorder := httptest.NewRecorder()
	l.Proxy().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	if recorder.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET gives %d", recorder.Code)
	}
	if _, err := connect(t.Context(), server.Listener.Addr().String(), "example.com:443"); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("CONNECT to a host outside gives %v, want 502", err)
	}
}

func TestWorldRun(t *testing.T) {
	l := newWorld(t)
	l.Do(orders, func(c *kafka.Cluster, now int64) {
		c.StopNode(4, now)
		n, _ := c.Node(4)
		if err := c.StartNode(4, kafka.Start{Version: "4.1.1", Broker: true, Host: n.Host, Port: n.Port}, now); err != nil {
			t.Error(err)
		}
	})
	dial := func() error {
		conn, err := l.DialContext(t.Context(), "tcp", "orders-broker-4.orders-kafka-brokers.prod.svc:9091")
		if err == nil {
			conn.Close()
		}
		return err
	}
	if dial() == nil {
		t.Fatal("broker 4 listens although its start takes time")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- l.Run(ctx) }()
	deadline := time.After(10 * time.Second)
	for dial() != nil {
		l.clock.Step(100 * time.Millisecond)
		select {
		case <-deadline:
			t.Fatal("broker 4 never listens")
		default:
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWorldSnapshot(t *testing.T) {
	l := newWorld(t)
	before := l.Snapshot()
	l.Do(orders, func(c *kafka.Cluster, now int64) { c.KillNode(4, now) })
	if n, _ := before.Cluster(orders).Kafka.Node(4); n.Process != kafka.Running {
		t.Error("the snapshot moved with the world")
	}
	if n, _ := l.Snapshot().Cluster(orders).Kafka.Node(4); n.Process != kafka.Stopped {
		t.Error("a new snapshot does not show what happened")
	}
}

func TestWorldUntil(t *testing.T) {
	l := newWorld(t)
	now := l.Snapshot().Now
	if got := l.Until(now + 10_000); got != time.Second {
		t.Errorf("10 simulated seconds take %s at tenfold speed", got)
	}
	if got := l.Until(now - 1); got != 0 {
		t.Errorf("what is past takes %s", got)
	}
}
