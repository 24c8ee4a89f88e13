// Package demo is the Ceph kind of a local environment: simulated clusters, whose daemons run in simulated pods.
package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/examples"
	"github.com/detent-dev/detent/internal/dev"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/simulator/ceph/pods"
)

// New returns the Ceph kind for a local environment. table is the absolute path of the file from which the manager reads the table of
// releases; empty for the built-in table.
func New(table string) (dev.Kind, error) {
	documents, err := examples.Of("ceph")
	return dev.Kind{
		Kind: ceph.Resource(), Systems: "Ceph clusters", Examples: documents,
		List:     func() client.ObjectList { return &cephv1.ClusterList{} },
		Simulate: func(ctx context.Context, e dev.Environment) (dev.Simulation, error) { return simulate(ctx, table, e) },
	}, err
}

// images are those that can be pulled.
func images() map[string]versions.Version {
	out := map[string]versions.Version{}
	for image, number := range map[string]string{
		"quay.io/ceph/ceph:v14.2.22": "14.2.22", "quay.io/ceph/ceph:v16.2.15": "16.2.15", "quay.io/ceph/ceph:v18.2.7": "18.2.7",
	} {
		if v, err := versions.ParseNumber(number); err == nil { // all are numbers
			out[image] = v
		}
	}
	return out
}

// world are the simulated clusters by the name of their resource.
type world struct {
	env   dev.Environment
	begin time.Time

	mu       sync.Mutex
	clusters map[types.NamespacedName]*cluster
}

type cluster struct {
	ceph *simulated.Shared
	pods *pods.World
}

// simulate runs the simulated clusters, and the way on which the manager reaches them.
func simulate(ctx context.Context, table string, e dev.Environment) (dev.Simulation, error) {
	w := &world{env: e, begin: e.Clock.Now(), clusters: map[types.NamespacedName]*cluster{}}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return dev.Simulation{}, fmt.Errorf("listening for the manager's way to the simulated Ceph: %w", err)
	}
	server := &http.Server{Handler: w, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			e.Fail(fmt.Errorf("serving the way to the simulated Ceph: %w", err))
		}
	}()
	go w.run(ctx)
	args := []string{"--ceph-simulator", listener.Addr().String()}
	if table != "" {
		args = append(args, "--ceph-versions", table)
	}
	return dev.Simulation{
		ManagerArgs: args,
		Stop:        func() { _ = server.Close() }, // at shutdown there is no receiver for the error
	}, nil
}

// cluster returns the simulated cluster of a resource.
func (w *world) cluster(name types.NamespacedName) *cluster {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.clusters[name]
	if c == nil {
		const release = 16
		c = &cluster{ceph: simulated.NewShared(simulated.NewEmpty(release))}
		c.pods = &pods.World{Client: w.env.Client, Namespace: name.Namespace, Name: name.Name, Ceph: c.ceph, Images: images()}
		w.clusters[name] = c
	}
	return c
}

// step is how often pods and daemons are advanced.
const step = 500 * time.Millisecond

func (w *world) run(ctx context.Context) {
	ticker := w.env.Clock.NewTicker(step)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		if err := w.advance(ctx); err != nil && ctx.Err() == nil {
			w.env.Fail(fmt.Errorf("running the simulated Ceph: %w", err))
			return
		}
	}
}

// advance moves all clusters to the present time.
func (w *world) advance(ctx context.Context) error {
	var list cephv1.ClusterList
	if err := w.env.Client.List(ctx, &list); err != nil {
		return err
	}
	now := w.env.Clock.Now()
	for i := range list.Items {
		c := w.cluster(client.ObjectKeyFromObject(&list.Items[i]))
		c.ceph.Do(func(one *simulated.Cluster) {
			one.Advance(int64(float64(now.Sub(w.begin).Milliseconds()) * w.env.Speed))
		})
		if err := c.pods.Step(ctx, now); err != nil {
			return err
		}
	}
	return nil
}
