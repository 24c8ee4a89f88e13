// Package dev runs all of Detent on one machine: a real control plane on loopback, simulated nodes, what each kind simulates, the
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
	"math"
	"os"
	"slices"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/resource"
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
	// Kinds that run. Required.
	Kinds []Kind
	// NoExamples leaves out the example resources.
	NoExamples bool
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
	if !(o.Speed > 0) || math.IsInf(o.Speed, 0) { // neither is NaN
		return o, fmt.Errorf("a speed of %g: time moves forward, so it must be above 0, and finite", o.Speed)
	}
	if o.Port < 0 || o.Port > math.MaxUint16 {
		return o, fmt.Errorf("port %d of the API server: it is at most %d; 0 is a free one", o.Port, math.MaxUint16)
	}
	if o.Keep != "" {
		if err := os.MkdirAll(o.Keep, 0o700); err != nil {
			return o, fmt.Errorf("making the directory that keeps the logs: %w", err)
		}
	}
	if o.Width == 0 {
		o.Width = 80
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, nil
}

// resources returns the declarations of the kinds.
func (o *Options) resources() []resource.Kind {
	out := make([]resource.Kind, len(o.Kinds))
	for i := range o.Kinds {
		out[i] = o.Kinds[i].Kind
	}
	return out
}

// examples returns the examples of all kinds, or none if they are left out.
func (o *Options) examples() [][]byte {
	var out [][]byte
	for i := range o.Kinds {
		if !o.NoExamples {
			out = append(out, o.Kinds[i].Examples...)
		}
	}
	return out
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
	// simulations are those of the kinds.
	simulations []Simulation
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
	scheme, err := resource.Scheme(w.options.resources())
	if err != nil {
		return err
	}
	if w.client, err = client.NewWithWatch(w.admin, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("connecting to the local API server: %w", err)
	}
	if err := w.install(ctx); err != nil {
		return err
	}
	defer w.stopSimulations()
	if err := w.simulate(ctx, cancel); err != nil {
		return err
	}
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
	for i := range w.options.Kinds {
		go w.follow(ctx, &w.options.Kinds[i])
	}
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

// simulate starts what the kinds simulate, and the simulated nodes.
func (w *world) simulate(ctx context.Context, fail context.CancelCauseFunc) error {
	for i := range w.options.Kinds {
		k := &w.options.Kinds[i]
		simulation, err := k.Simulate(ctx, Environment{Clock: w.options.Clock, Client: w.client, Speed: w.options.Speed, Fail: fail})
		if err != nil {
			return fmt.Errorf("simulating the systems of kind %s: %w", k.Name, err)
		}
		w.simulations = append(w.simulations, simulation)
	}
	return w.startKubelets(ctx, fail)
}

func (w *world) stopSimulations() {
	for _, s := range slices.Backward(w.simulations) {
		s.Stop()
	}
}
