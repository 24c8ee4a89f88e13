// Package dev runs all of Detent on one machine: a real control plane on loopback, simulated nodes and Kafka clusters, the
// operator as a separate process, and the example resources. It is not meant for production.
//
// The simulation runs in this process, so that it survives when the operator is killed. All files are in one directory that is
// removed with the control plane. If this process is killed, the next run removes the directory.
package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/simulator"
)

// Options of a local development environment.
type Options struct {
	// Executable is the detent binary that runs the manager. Required.
	Executable string
	// Dir is the parent of the run's directory. Optional; default: the system's directory for temporary files.
	Dir string
	// Keep is the directory that the logs are copied to at the end. Optional; default: none.
	Keep string
	// Port of the API server. Optional; default: a free port.
	Port int
	// Speed is the number of simulated seconds per second. The manager's own durations shrink accordingly. Default: 1.
	Speed float64
	// Table of the versions of Kafka that the simulation knows, and the file from which the manager reads it. Optional;
	// default: the built-in table.
	Table     *versions.Table
	TableFile string
	// Examples are YAML documents to apply at the start.
	Examples [][]byte
	// Out is the output for the user. Log receives messages about what is built and started.
	Out, Log io.Writer
	// Width of Out in columns; default: 80. ASCII limits Out to ASCII characters.
	Width int
	ASCII bool
	// Clock of the simulation and of displayed times. Optional; default: the system's clock.
	Clock clock.WithTicker
}

func (o Options) withDefaults() (Options, error) {
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.Speed < 0 {
		return o, fmt.Errorf("a speed of %g: time moves forward, so it must be above 0", o.Speed)
	}
	if o.Width == 0 {
		o.Width = 80
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	var err error
	if o.Table == nil {
		o.Table, err = versions.Embedded()
	}
	return o, err
}

// world holds the running components.
type world struct {
	options Options
	plane   *controlplane.ControlPlane
	// late are the programs that were not available when the control plane was started.
	late []controlplane.Program
	// dir is removed with the control plane.
	dir    string
	admin  *rest.Config
	client client.WithWatch
	sim    *simulator.World
	proxy  string
}

// Run starts everything, prints transitions until the context ends, and stops everything. An error names what could not be
// started or what failed.
func Run(ctx context.Context, o Options) (err error) {
	o, err = o.withDefaults()
	if err != nil {
		return err
	}
	w := &world{options: o}
	if err := w.startPlane(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.keep(), w.plane.Stop()) }()
	return w.live(ctx)
}

// live runs the components that need a control plane.
func (w *world) live(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	scheme, err := operator.Scheme()
	if err != nil {
		return err
	}
	if w.client, err = client.NewWithWatch(w.admin, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("connecting to the local API server: %w", err)
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
	if err := w.greet(manager); err != nil {
		return err
	}
	go w.follow(ctx)
	completed := w.complete(ctx, cancel)
	defer func() {
		cancel(nil)
		completed()
	}()
	return w.wait(ctx)
}

// wait returns when the context ends or when a required component fails.
func (w *world) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-w.plane.Failed():
		return w.plane.Err()
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	fmt.Fprintln(w.options.Out, "\nstopping; Ctrl-C again to leave at once")
	return nil
}

// startWorld runs the simulated kubelets and Kafka clusters, and the proxy through which the manager connects to the clusters.
func (w *world) startWorld(ctx context.Context, cancel context.CancelCauseFunc) (stop func(), err error) {
	w.sim = simulator.NewWorld(simulator.Options{Table: w.options.Table, Topics: simulator.DefaultTopics()}, w.options.Clock, w.options.Speed)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the manager's way to the simulated brokers: %w", err)
	}
	w.proxy = listener.Addr().String()
	server := &http.Server{Handler: w.sim.Proxy(), ReadHeaderTimeout: 5 * time.Second}
	stop = func() {
		_ = server.Close() // at shutdown there is no receiver for the error
		w.sim.Close()
	}
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
		stop()
		return nil, err
	}
	return stop, nil
}
