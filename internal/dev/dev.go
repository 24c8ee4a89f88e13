// Package dev is the whole of Detent on one machine: a real control plane on loopback, a simulated world behind it, the
// operator as a process of its own, and the example resources. Nothing of it is meant for production.
//
// What is simulated lives in this process and outlives the operator, which may be killed at any time. Everything on disk lies
// in one directory that goes with the control plane; when this process is killed, the next one sweeps it away.
package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
	// Dir is the directory under which the run's own is made. Default: the system's for temporary files.
	Dir string
	// Keep is a directory that takes the logs at the end; empty for none.
	Keep string
	// Port of the API server; 0 for a free one.
	Port int
	// Speed is how many simulated seconds pass in a second. The manager's own times shrink with it. Default: 1.
	Speed float64
	// Table of the versions of Kafka that exist in this world, and the file that the manager reads it from. Default: the
	// built-in one.
	Table     *versions.Table
	TableFile string
	// Examples are applied at the start, as YAML.
	Examples [][]byte
	// Out is for people; Log takes the words of what is built and started.
	Out, Log io.Writer
	// Width of Out in columns. Default: 80. ASCII says that it shows nothing else.
	Width int
	ASCII bool
	// Clock of everything that is simulated and shown. Default: the system's.
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

// world is what runs.
type world struct {
	options Options
	plane   *controlplane.ControlPlane
	// dir goes with the control plane.
	dir    string
	admin  *rest.Config
	client client.WithWatch
	sim    *simulator.World
	proxy  string
}

// Run starts everything, follows the lifecycles until the context ends, and takes everything down again. An error says what
// could not be started or ended by itself.
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

func (w *world) startPlane(ctx context.Context) error {
	paths, err := controlplane.Binaries(ctx, controlplane.BinaryOptions{Log: w.options.Log})
	if err != nil {
		return err
	}
	fmt.Fprintln(w.options.Log, "starting etcd, kube-apiserver and kube-controller-manager on loopback")
	w.plane, err = controlplane.Start(ctx, controlplane.Options{Paths: paths, Dir: w.options.Dir, Port: w.options.Port, Log: w.options.Log})
	if err != nil {
		return err
	}
	w.admin = w.plane.AdminConfig()
	w.dir = filepath.Dir(w.plane.Kubeconfigs().Admin)
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
	return w.wait(ctx)
}

// wait until the context ends, or something without which there is no world.
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

// startWorld runs the simulated kubelets and Kafka clusters, and the proxy through which the manager reaches these.
func (w *world) startWorld(ctx context.Context, cancel context.CancelCauseFunc) (stop func(), err error) {
	w.sim = simulator.NewWorld(simulator.Options{Table: w.options.Table, Topics: simulator.DefaultTopics()}, w.options.Clock, w.options.Speed)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the manager's way to the simulated brokers: %w", err)
	}
	w.proxy = listener.Addr().String()
	server := &http.Server{Handler: w.sim.Proxy(), ReadHeaderTimeout: 5 * time.Second}
	stop = func() {
		_ = server.Close() // nobody is left to be told
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
