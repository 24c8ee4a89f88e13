package detent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// System is an external system of an External operator: a question is the need of a costly fact.
type System[A, W any] = external.System[external.Object, transitions.Need, A, W]

// External is the short way to an operator on a system outside the Kubernetes API, such as an HTTP service: machines over the same
// facts, whose effects are commands to the system. O is the object, A the system's answer to a question, F the facts and W a
// command. A question is the need of a costly fact. All fields but those that say so are required.
//
// No reconcile waits for the system. external.Fragment contributes the states in which commands are sent.
type External[O Object, A, F, W any] struct {
	// Name of the kind as users write it.
	Name string
	// New returns an empty object.
	New func() O
	// Machines are the lifecycles of the kind, in the order of their precedence in the summary of the status. The name of a machine is
	// the lifecycle's name in the status.
	Machines []Machine[F, W]
	// Instances returns, by the name of a machine, the names of its instances on an object. An instance that is not named any more is released
	// through its entry in the status, and by what Existing returns. Optional; default: an object has each lifecycle once.
	Instances map[string]func(object O) []string
	// Existing returns, by the name of a machine, the names of the instances that the system still has, and false if an answer that tells is not
	// known: the finalizer then stays, as it does while a command for the object may take effect after the answer. One that is not declared any more
	// is released although its entry was lost with the status. The needs of such a machine are observed in every reconcile. Optional; default: only
	// entries are released.
	Existing map[string]func(seen external.Snapshot[A]) (names []string, known bool)
	// System is what users call the system, such as "the bank". The status shows it while the system cannot be read. Optional; default: the status
	// shows the error of Ask alone.
	System string
	// Facts returns the facts of a lifecycle, of the instance that is named in the options.
	Facts func(object O, seen external.Snapshot[A], options machines.ObserveOptions) F
	// Ask sends a question about an object. It must return when its context ends.
	Ask func(ctx context.Context, object external.Object, question transitions.Need) (A, error)
	// Execute sends a command for an object. It must return when its context ends. It returns *external.Refusal if the system rejected
	// the command, and *external.NeverSent if it certainly did not reach the system; see external.OutcomeOf. A command must be idempotent: a manager that takes over, or that lost the status, sends at
	// once what the system does not show yet, although a previous manager may have sent it.
	Execute func(ctx context.Context, object external.Object, command W) error
	// Settle is how long a command may take effect after its sender has ended. Optional; default: one minute.
	Settle time.Duration
	// AskTimeout and ExecuteTimeout are the time limits of Ask and Execute, after which their context ends. Optional; defaults: 10 s and
	// 30 s. The outcome of a command whose time is over is unknown.
	AskTimeout, ExecuteTimeout time.Duration
}

// Protocol returns how the system is asked and commanded, for external.Direct and for exploration. It has no client.
func (e External[O, A, F, W]) Protocol() external.Protocol[external.Object, external.Object, transitions.Need, A, W] {
	return external.Protocol[external.Object, external.Object, transitions.Need, A, W]{
		Connect: func(o external.Object) (external.Object, func(), error) { return o, func() {}, nil },
		System:  e.System, Ask: e.Ask, Execute: e.Execute,
	}
}

// Kind returns the operator as a kind on the system, for runtime.New, exploration and the fault campaign. It compiles the machines,
// and returns their structural defects as *machines.Findings. A missing field is an error as well.
func (e External[O, A, F, W]) Kind(system System[A, W]) (lifecycle.Kind[O, external.Snapshot[A], W], error) {
	if err := complete(e.Name, field{"Name", e.Name != ""}, field{"New", e.New != nil}, field{"Machines", len(e.Machines) > 0},
		field{"Facts", e.Facts != nil}, field{"Ask", e.Ask != nil}, field{"Execute", e.Execute != nil}); err != nil {
		return lifecycle.Kind[O, external.Snapshot[A], W]{}, err
	}
	target := func(o O) external.Object {
		return external.Object{Name: client.ObjectKeyFromObject(o), UID: o.GetUID()}
	}
	kind := lifecycle.Kind[O, external.Snapshot[A], W]{
		Name: e.Name, New: e.New, Cleanup: system.Drop,
		Observe: func(ctx context.Context, o O, request lifecycle.ObserveRequest) (external.Snapshot[A], error) {
			return external.Observe(ctx, system, target(o), request), nil
		},
		Execute: func(ctx context.Context, r lifecycle.EffectRequest[O, external.Snapshot[A], W]) error {
			system.Write(ctx, target(r.Object), r.RequestID, r.Effect)
			return nil
		},
		StatusEqual: func(O, O) bool { return true }, // there are no status fields but the lifecycles'
	}
	several := 0
	for _, definition := range e.Machines {
		machine, err := machines.Compile(definition)
		if err != nil {
			return lifecycle.Kind[O, external.Snapshot[A], W]{}, fmt.Errorf("compiling machine %s of %s: %w", definition.Name, e.Name, err)
		}
		binding := machines.Binding[O, external.Snapshot[A], F, W, W]{Name: definition.Name, Facts: e.Facts}
		if names := e.Instances[definition.Name]; names != nil {
			several++
			binding.Instances = func(o O, _ external.Snapshot[A]) ([]string, bool) { return names(o), true }
			if left := e.Existing[definition.Name]; left != nil {
				binding.Existing = func(_ O, seen external.Snapshot[A]) ([]string, bool) {
					names, known := left(seen)
					return names, known && !seen.InFlight()
				}
				binding.Unlisted = func(_ O, seen external.Snapshot[A]) string { return seen.Unknown() }
				kind.AlwaysNeeded = withNeeds(kind.AlwaysNeeded, definition.Needs)
			}
		}
		kind.Lifecycles = append(kind.Lifecycles, machines.Bind(machine, binding))
	}
	for name := range e.Existing {
		if e.Instances[name] == nil {
			return lifecycle.Kind[O, external.Snapshot[A], W]{}, fmt.Errorf("the operator of %s has Existing of the lifecycle %s without Instances: declare them", e.Name, name)
		}
	}
	if several < len(e.Instances) {
		return lifecycle.Kind[O, external.Snapshot[A], W]{}, fmt.Errorf("the operator of %s has Instances of a lifecycle without a machine: use the names of its machines", e.Name)
	}
	return kind, kind.Validate()
}

// withNeeds adds declared needs to a list of their names.
func withNeeds(names []transitions.Need, declared []machines.Need) []transitions.Need {
	for _, need := range declared {
		if !slices.Contains(names, need.Name) {
			names = append(names, need.Name)
		}
	}
	return names
}

// SetupWithManager registers the operator: its controller, the pollers of the system, its events, and its metrics in the registry that
// the manager serves. The pollers end with the manager. A process registers one operator.
func (e External[O, A, F, W]) SetupWithManager(mgr ctrl.Manager) error {
	wakeups, wake := lifecycle.Wakeups(e.New)
	system := &external.Polled[external.Object, external.Object, transitions.Need, A, W]{Protocol: e.Protocol(), Wake: wake, Clock: clock.RealClock{}, Settle: e.Settle, AskTimeout: e.AskTimeout, ExecuteTimeout: e.ExecuteTimeout}
	kind, err := e.Kind(system)
	if err != nil {
		return err
	}
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		system.Close()
		return nil
	})); err != nil {
		return fmt.Errorf("registering the pollers of %s: %w", e.Name, err)
	}
	return setup(mgr, kind, strings.ToLower(e.Name), lifecycle.Wiring{Wakeups: wakeups})
}
