// Package dev is the whole of Detent on one machine: a real control plane on loopback, a simulated world behind it, the
// operator as a process of its own, and the example resources. Nothing of it is meant for production.
package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/simulator"
)

// Options of a local world.
type Options struct {
	// Executable is the detent binary that runs the manager. Demanded.
	Executable string
	// Dir for everything that is written; default: a temporary one. It is removed at the end unless Keep.
	Dir  string
	Keep bool
	// Port of the API server; 0 for a free one.
	Port int
	// Speed is how many simulated seconds pass in a second.
	Speed float64
	// Examples are applied at the start, as YAML.
	Examples [][]byte
	// Out is for people; Log takes the words of what is built and started.
	Out, Log io.Writer
}

// world is what runs.
type world struct {
	options Options
	dir     string
	plane   *controlplane.ControlPlane
	admin   *rest.Config
	client  client.WithWatch
	sim     *simulator.World
	proxy   string
}

// Run starts everything, follows the lifecycles until the context ends, and takes everything down again.
func Run(ctx context.Context, o Options) (err error) {
	w := &world{options: o}
	if w.dir, err = workDir(o.Dir); err != nil {
		return err
	}
	if !o.Keep {
		defer func() { err = errors.Join(err, os.RemoveAll(w.dir)) }()
	}
	if err := w.startPlane(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.plane.Stop()) }()
	return w.live(ctx)
}

func workDir(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "detent-dev-")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o700)
}

func (w *world) startPlane(ctx context.Context) error {
	paths, err := controlplane.Binaries(ctx, controlplane.BinaryOptions{Log: w.options.Log})
	if err != nil {
		return fmt.Errorf("getting a control plane: %w", err)
	}
	fmt.Fprintln(w.options.Log, "starting etcd, kube-apiserver and kube-controller-manager on loopback")
	w.plane, err = controlplane.Start(ctx, controlplane.Options{Paths: paths, Dir: w.dir, Port: w.options.Port, Log: w.options.Log})
	if err != nil {
		return fmt.Errorf("starting the control plane: %w", err)
	}
	w.admin = w.plane.AdminConfig()
	return nil
}

// live runs what needs a control plane.
func (w *world) live(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	scheme, err := operator.Scheme()
	if err != nil {
		return err
	}
	if w.client, err = client.NewWithWatch(w.admin, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if err := w.install(ctx); err != nil {
		return err
	}
	stop, err := w.startWorld(ctx, cancel)
	if err != nil {
		return err
	}
	defer stop()
	manager, err := w.startManager(ctx)
	if err != nil {
		return err
	}
	defer manager.stop()
	go manager.supervise(ctx)
	if err := w.applyExamples(ctx); err != nil {
		return err
	}
	w.greet(manager)
	go w.follow(ctx)
	select {
	case <-ctx.Done():
	case <-w.plane.Failed():
		return w.plane.Err()
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// startWorld runs the simulated kubelets and Kafka clusters, and the proxy through which the manager reaches these.
func (w *world) startWorld(ctx context.Context, cancel context.CancelCauseFunc) (stop func(), err error) {
	table, err := versions.Embedded()
	if err != nil {
		return nil, err
	}
	w.sim = simulator.NewWorld(simulator.Options{Table: table, Topics: simulator.DefaultTopics()}, clock.RealClock{}, w.options.Speed)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the manager's way to the simulated brokers: %w", err)
	}
	w.proxy = listener.Addr().String()
	server := &http.Server{Handler: w.sim.Proxy(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			cancel(fmt.Errorf("serving the way to the simulated brokers: %w", err))
		}
	}()
	go func() {
		if err := w.sim.Run(ctx); err != nil {
			cancel(fmt.Errorf("running the simulated world: %w", err))
		}
	}()
	if err := w.startKubelets(ctx, cancel); err != nil {
		return nil, err
	}
	return func() {
		_ = server.Close()
		w.sim.Close()
	}, nil
}
