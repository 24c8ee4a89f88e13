package operator

import (
	"context"
	"fmt"
	"slices"

	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/detent-dev/detent/internal/resource"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Kind is one kind that a manager reconciles.
type Kind struct {
	resource.Kind
	// Rival is another operator of the same API. Optional; default: none.
	Rival *Rival
	// Requires names another kind whose controllers this kind needs. Optional; default: none.
	Requires string
	// Add adds the controllers of the kind. It returns a function that closes what they opened, such as connections to an external
	// system, which is called when the manager has ended. Required.
	Add func(p *Process) (stop func(), err error)
}

// Rival is another operator of the same API. Two operators must not serve one object: the manager does not start while the rival
// holds its lease, or over definitions of the rival, unless Options.Adopt is set.
type Rival struct {
	// Name of the rival, for messages.
	Name string
	// Lease is the name of its leader election's lease.
	Lease string
	// Label and LabelValue are on its custom resource definitions.
	Label, LabelValue string
}

// declarations returns the declarations of the kinds.
func declarations(kinds []Kind) []resource.Kind {
	out := make([]resource.Kind, len(kinds))
	for i := range kinds {
		out[i] = kinds[i].Kind
	}
	return out
}

// Wiring configures the controllers of a manager.
type Wiring struct {
	// Version of the operator, which kinds may show in the status.
	Version string
	// Selector as in Options.
	Selector apilabels.Selector
	// DeadlineScale, Workers and SkipNameValidation as in Options.
	DeadlineScale      float64
	Workers            int
	SkipNameValidation bool
	// Metrics of the reconciles. Optional; default: none.
	Metrics *lifecycle.Metrics
	// Journal as in Options.
	Journal lifecycle.Journal
}

// Process is what the controllers of one manager share.
type Process struct {
	Wiring
	// Kinds are the names of the kinds that run.
	Kinds           []string
	Manager         ctrl.Manager
	Clock           clock.WithDelayedExecution
	Events          *lifecycle.Recorder
	Children        *lifecycle.Children
	DisruptionLocks *lifecycle.DisruptionLocks
}

// AddControllers adds the controllers of the kinds to a manager. The caller must call the returned function when the manager has
// ended.
func AddControllers(mgr ctrl.Manager, kinds []Kind, w Wiring) (stop func(), err error) {
	recorder, err := lifecycle.NewRecorder(mgr, "detent")
	if err != nil {
		return nil, err
	}
	if err := indexParts(mgr, kinds); err != nil {
		return nil, err
	}
	clk := clock.RealClock{}
	p := &Process{
		Wiring: w, Kinds: names(kinds), Manager: mgr, Clock: clk, Events: recorder,
		Children: lifecycle.NewChildren(mgr.GetClient(), mgr.GetAPIReader(), clk), DisruptionLocks: lifecycle.NewDisruptionLocks(),
	}
	var stops []func()
	stop = func() {
		for _, one := range slices.Backward(stops) {
			one()
		}
	}
	for i := range kinds {
		one, err := kinds[i].Add(p)
		if err != nil {
			stop()
			return nil, fmt.Errorf("adding the controllers of kind %s: %w", kinds[i].Name, err)
		}
		stops = append(stops, one)
	}
	return stop, nil
}

// indexParts lets the cache find the parts of each object by the label that names it.
func indexParts(mgr ctrl.Manager, kinds []Kind) error {
	type index struct {
		resource schema.GroupVersionResource
		label    string
	}
	done := map[index]bool{}
	for i := range kinds {
		for _, part := range kinds[i].Parts {
			one := index{part.Resource, kinds[i].Label}
			if done[one] { // kinds of one system have the same label
				continue
			}
			done[one] = true
			if err := lifecycle.IndexLabel(context.Background(), mgr, kinds[i].Label, part.Object); err != nil {
				return fmt.Errorf("preparing the lists of the parts of kind %s: %w", kinds[i].Name, err)
			}
		}
	}
	return nil
}

// AddReconciler adds the controller of a kind with lifecycles. It watches the kind and its parts.
// wakeups enqueues objects for changes that no watch reports, and watch adds further watches; both are optional.
func AddReconciler[O lifecycle.Object, S, E any](p *Process, declared *resource.Kind, kind lifecycle.Kind[O, S, E], wakeups <-chan event.GenericEvent, watch func(*builder.Builder)) error {
	mgr := p.Manager
	r := lifecycle.New(kind, lifecycle.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Children: p.Children, DisruptionLocks: p.DisruptionLocks, Clock: p.Clock, Metrics: p.Metrics,
		Events: p.Events, DeadlineScale: p.DeadlineScale, Journal: p.Journal,
	})
	all := func(b *builder.Builder) {
		for _, part := range declared.Parts {
			if !part.Access.Written() {
				b.Watches(part.Object, handler.EnqueueRequestsFromMapFunc(declared.OwnerOf))
			}
		}
		if watch != nil {
			watch(b)
		}
	}
	return r.SetupWithManager(mgr, lifecycle.Wiring{Workers: p.Workers, Wakeups: wakeups, Watch: all, SkipNameValidation: p.SkipNameValidation})
}
