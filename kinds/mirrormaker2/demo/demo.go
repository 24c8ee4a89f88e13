// Package demo is the KafkaMirrorMaker2 kind of a local environment: simulated Connect workers on loopback.
package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/dev"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/connect"
	"github.com/detent-dev/detent/simulator/connect/wire"
)

// workers is how many workers each simulated group has. Requests to a worker with a higher number reach the last one.
const workers = 3

// New returns the KafkaMirrorMaker2 kind for a local environment.
func New() dev.Kind {
	return dev.Kind{
		Kind: mirrormaker2.Resource(), Systems: "Connect workers",
		List: func() client.ObjectList { return &kafkav1beta2.KafkaMirrorMaker2List{} }, Simulate: simulate,
	}
}

// world are the simulated groups of workers by the name of their resource. The pods are simulated elsewhere: a pod that is restarted
// leaves its simulated worker alone.
type world struct {
	mu     sync.Mutex
	groups map[string]*wire.Server
	speed  float64
	closed bool
}

// simulate runs the simulated workers, and the proxy through which the manager connects to them.
func simulate(ctx context.Context, e dev.Environment) (dev.Simulation, error) {
	w := &world{groups: map[string]*wire.Server{}, speed: e.Speed}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return dev.Simulation{}, fmt.Errorf("listening for the manager's way to the simulated workers: %w", err)
	}
	server := &http.Server{Handler: simulator.Proxy(w.dial), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			e.Fail(fmt.Errorf("serving the way to the simulated workers: %w", err))
		}
	}()
	go w.tick(ctx, e)
	return dev.Simulation{
		ManagerArgs: []string{"--mirrormaker2-proxy", listener.Addr().String()},
		Stop: func() {
			_ = server.Close() // at shutdown there is no receiver for the error
			w.close()
		},
	}, nil
}

// step is how often the simulated time is advanced.
const step = 200 * time.Millisecond

func (w *world) tick(ctx context.Context, e dev.Environment) {
	ticker := e.Clock.NewTicker(step)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		for _, group := range w.all() {
			err := group.Do(func(c *connect.Cluster) {
				c.Produce(topic, 1)
				c.Tick(c.Now + int64(float64(step.Milliseconds())*w.speed))
			})
			if err != nil {
				e.Fail(fmt.Errorf("running the simulated workers: %w", err))
				return
			}
		}
	}
}

// topic is the topic that the simulated source clusters have. Records arrive in it all the time.
const topic = "orders"

func (w *world) all() []*wire.Server {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]*wire.Server, 0, len(w.groups))
	for _, group := range w.groups {
		out = append(out, group)
	}
	return out
}

func (w *world) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, group := range w.groups {
		group.Close()
	}
	w.groups = nil
}

// resolve returns the loopback address of a worker, by the name of the Service or of its pod.
func (w *world) resolve(host string) (string, error) {
	parts := strings.Split(strings.TrimSuffix(host, ":"+strconv.Itoa(render.Port)), ".")
	worker := 0
	if len(parts) == 4 { // pod.service.namespace.svc
		n, err := strconv.Atoi(observation.Number(parts[0]))
		if err != nil {
			return "", fmt.Errorf("no such host: %s is no worker", host)
		}
		worker, parts = min(n, workers-1), parts[1:]
	}
	if len(parts) != 3 {
		return "", fmt.Errorf("no such host: %s", host)
	}
	name, found := strings.CutSuffix(strings.TrimSuffix(parts[0], "-api"), "-mirrormaker2")
	if !found {
		return "", fmt.Errorf("no such host: %s is no Service of workers", host)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	group := w.groups[parts[1]+"/"+name]
	if group == nil {
		if w.closed {
			return "", errors.New("the simulated workers have ended")
		}
		c := connect.New(connect.DefaultSettings(), workers, false)
		c.CreateTopic(topic, 3)
		var err error
		if group, err = wire.NewServer(c); err != nil {
			return "", err
		}
		w.groups[parts[1]+"/"+name] = group
	}
	return group.Addr(worker), nil
}

// dial connects to a simulated worker by its name within a cluster.
func (w *world) dial(ctx context.Context, host string) (net.Conn, error) {
	address, err := w.resolve(host)
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}
