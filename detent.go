// Package detent is the short way to an operator whose machines have no data. Operator has one machine, facts that are read from the
// API server's cache, and effects that are executed directly. External has several machines, facts that a system outside the Kubernetes
// API answers, and effects that are commands to it.
//
// An operator that needs more (data, children and an external system at once, disruptions, records, status fields of its own) declares
// a runtime.Kind. The machines stay as they are: Kind returns the kind, and machines.Bind binds the same machine to another one.
package detent

import (
	"context"
	"fmt"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
)

type (
	// Object is a custom resource whose status contains a lifecycle.
	Object = lifecycle.Object
	// Writer writes the children of one object.
	Writer = lifecycle.Writer
)

// Operator runs one machine on a kind of object: O is the object, F the facts and E the effects. All fields but Owns are required.
type Operator[O Object, F, E any] struct {
	// Name of the kind as users write it.
	Name string
	// New returns an empty object.
	New func() O
	// Machine is the lifecycle of the kind. Its name is the lifecycle's name in the status.
	Machine Machine[F, E]
	// Owns are the kinds of the children: an empty object each. A change of a child reconciles its owner. Optional; default: none.
	Owns []client.Object
	// Observe returns the facts. read never returns a child that is older than the operator's last write to it; before an action
	// with a Precondition it reads from the API server. An error fails the reconcile, so a child that is missing is a fact and no
	// error.
	Observe func(ctx context.Context, object O, read client.Reader) (F, error)
	// Execute executes one effect. It must be idempotent, and must return when its context ends, after 2 minutes at most. It returns
	// runtime.ErrWait if the effect is not possible yet.
	Execute func(ctx context.Context, object O, effect E, write Writer) error
}

// Kind returns the operator as a kind, for runtime.New, exploration and the fault campaign. It compiles the machine, and returns
// its structural defects as *machines.Findings. A missing field is an error as well.
func (o Operator[O, F, E]) Kind() (lifecycle.Kind[O, F, E], error) {
	machine, err := machines.Compile(o.Machine)
	if err != nil {
		return lifecycle.Kind[O, F, E]{}, fmt.Errorf("compiling the machine of %s: %w", o.Name, err)
	}
	if err := complete(o.Name, field{"Name", o.Name != ""}, field{"New", o.New != nil}, field{"Observe", o.Observe != nil}, field{"Execute", o.Execute != nil}); err != nil {
		return lifecycle.Kind[O, F, E]{}, err
	}
	bound := machines.Bind(machine, machines.Binding[O, F, F, E, E]{
		Name: o.Machine.Name, Facts: func(_ O, facts F, _ machines.ObserveOptions) F { return facts },
	})
	kind := lifecycle.Kind[O, F, E]{
		Name: o.Name, New: o.New, Owns: o.Owns, Lifecycles: []machines.Lifecycle[O, F, E]{bound},
		Observe: func(ctx context.Context, object O, request lifecycle.ObserveRequest) (F, error) {
			return o.Observe(ctx, object, request.Read)
		},
		Execute: func(ctx context.Context, request lifecycle.EffectRequest[O, F, E]) error {
			return o.Execute(ctx, request.Object, request.Effect, request.Write)
		},
		StatusEqual: func(O, O) bool { return true }, // there are no status fields but the lifecycle's
	}
	return kind, kind.Validate()
}

// field is a required field of an operator, and whether it is declared.
type field struct {
	name     string
	declared bool
}

// complete returns an error that names the fields that are missing: the operator would fail in the cluster only.
func complete(operator string, required ...field) error {
	var missing []string
	for _, f := range required {
		if !f.declared {
			missing = append(missing, f.name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the operator of %q lacks required fields: declare %s", operator, strings.Join(missing, ", "))
	}
	return nil
}

// SetupWithManager registers the operator: its controller, its events, and its metrics in the registry that the manager serves.
// A process registers one operator; several kinds share runtime.Metrics and runtime.Children, see runtime.Options.
func (o Operator[O, F, E]) SetupWithManager(mgr ctrl.Manager) error {
	kind, err := o.Kind()
	if err != nil {
		return err
	}
	return setup(mgr, kind, o.Machine.Name, lifecycle.Wiring{})
}

// setup registers a kind with events, reported by that controller, and with metrics.
func setup[O Object, S, E any](mgr ctrl.Manager, kind lifecycle.Kind[O, S, E], controller string, wiring lifecycle.Wiring) error {
	recorder, err := lifecycle.NewRecorder(mgr, controller)
	if err != nil {
		return err
	}
	gauges, err := lifecycle.NewMetrics(metrics.Registry)
	if err != nil {
		return fmt.Errorf("registering the metrics of %s: %w", kind.Name, err)
	}
	options := lifecycle.Options{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Events: recorder, Metrics: gauges}
	return lifecycle.New(kind, options).SetupWithManager(mgr, wiring)
}
