package plan

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/states"
)

const (
	// latency is the delay between a write and its watch event.
	latency = 100 * time.Millisecond
	// mostJobs limits a plan; it is far above what any plan needs.
	mostJobs = 400_000
)

// engine runs the operator's own code in a simulated world until nothing more happens.
type engine struct {
	in     Input
	begin  time.Time
	clock  *virtual
	store  *store.Store
	client client.Client
	queue  queue
	// simulations of the kinds, with their drivers in the same order.
	simulations []simulated
	drivers     []Driver
	recorder    *recorder
	ends        map[subject]*ending
	// changed is the time of the last change.
	changed  time.Time
	failures map[job]failure
	// taken are the assumptions for each object.
	taken map[subject]*assumptions
}

// Options of the operator whose actions the plan predicts.
type Options struct {
	// OperatorVersion is the version of the operator, which kinds may show in the status.
	OperatorVersion string
	// Journal records the decisions of the simulated operator. Optional; default: none.
	Journal lifecycle.Journal
}

// Make predicts what will happen to the objects of the input. It applies nothing and contacts no other system.
func Make(ctx context.Context, in Input, o Options) (*Plan, error) {
	ctx = log.IntoContext(ctx, logr.Discard())
	e, err := newEngine(ctx, in, o)
	if err != nil {
		return nil, err
	}
	if err := e.run(ctx); err != nil {
		return nil, err
	}
	return e.plan()
}

func newEngine(ctx context.Context, in Input, o Options) (*engine, error) {
	begin, err := newest(in.Objects)
	if err != nil {
		return nil, err
	}
	scheme, err := scheme(in.kinds)
	if err != nil {
		return nil, err
	}
	e := &engine{
		in: in, begin: begin, clock: &virtual{now: begin}, store: store.New(scheme, begin), queue: queue{due: map[job]time.Time{}},
		ends: map[subject]*ending{}, changed: begin,
		failures: map[job]failure{}, taken: map[subject]*assumptions{},
	}
	e.client = e.store.Client()
	e.recorder = newRecorder(begin, in.kinds, e.kindOf)
	e.recorder.knows, e.recorder.find = e.knows, e.stored
	if err := e.assemble(o); err != nil {
		return nil, err
	}
	return e, e.populate(ctx)
}

// knows reports whether a version is known to a kind.
func (e *engine) knows(kind, version string) bool {
	return slices.ContainsFunc(e.simulations, func(s simulated) bool { return s.kind.Name == kind && s.Knows(version) })
}

// stored returns an object of the store, or nil.
func (e *engine) stored(gvk schema.GroupVersionKind, name types.NamespacedName) (out client.Object) {
	e.store.Objects(gvk, func(o client.Object) {
		if client.ObjectKeyFromObject(o) == name {
			out = o
		}
	})
	return out
}

// kindOf returns the kind of an object.
func (e *engine) kindOf(o client.Object) string {
	gvk, err := e.client.GroupVersionKindFor(o)
	if err != nil { // every object of the store has a kind in the scheme
		return fmt.Sprintf("%T", o)
	}
	return gvk.Kind
}

// run executes jobs in the order of their due times until the plan of every object has ended.
func (e *engine) run(ctx context.Context) error {
	for range mostJobs {
		next, at, ok := e.queue.pop()
		if !ok {
			return nil
		}
		if at.After(e.clock.now) {
			if e.over(at) {
				return nil
			}
			if later, sleeps := e.sleeps(next, at); sleeps {
				e.queue.at(next, later)
				continue
			}
			e.advance(at)
		}
		if err := e.do(ctx, next); err != nil {
			return err
		}
	}
	return fmt.Errorf("planning: after %d steps, %s from now, it is still not over: this is a defect of the plan or of a machine; please report it with the input",
		mostJobs, e.clock.now.Sub(e.begin))
}

// advance moves the clock, the store and the simulated systems to a time.
func (e *engine) advance(at time.Time) {
	e.clock.now = at
	e.store.SetTime(at)
	for _, s := range e.simulations {
		s.Advance(at)
	}
}

// do runs one job and requeues it as its result requests.
func (e *engine) do(ctx context.Context, j job) error {
	if j.driver < 0 { // the next event of a simulation
		e.simulations[len(e.simulations)+j.driver].Happen()
		e.expectWorld()
		return nil
	}
	d := &e.drivers[j.driver]
	e.recorder.actor = d
	result, err := d.Run(ctx, j.name)
	e.recorder.actor = nil
	switch {
	case err != nil && !d.Operator:
		return fmt.Errorf("planning: simulating %s %s: %w", d.Of.Kind, j.name, err)
	case err != nil:
		e.failed(j, err)
	case result.RequeueAfter > 0:
		delete(e.failures, j)
		e.queue.at(j, e.clock.now.Add(result.RequeueAfter))
	default:
		delete(e.failures, j)
	}
	e.expectWorld()
	return nil
}

// failed requeues a failed job with exponential back-off, as the operator's work queue does.
func (e *engine) failed(j job, err error) {
	f := e.failures[j]
	f.times++
	f.last = err.Error()
	e.failures[j] = f
	e.queue.at(j, e.clock.now.Add(states.Backoff{}.After(f.times)))
}

// failure is the number of consecutive failures of a job and the last error.
type failure struct {
	times int
	last  string
}

// written enqueues the jobs that watch the object, and records the write.
func (e *engine) written(w store.Write) {
	e.changed = e.clock.now
	e.recorder.written(w, e.clock.now)
	at := e.clock.now.Add(latency)
	for i := range e.drivers {
		e.wake(i, w, at)
	}
}
