package plan

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/controllers/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator"
	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/states"
)

const (
	// latency is the delay between a write and its watch event.
	latency = 100 * time.Millisecond
	// quiet is how long nothing may happen until the plan ends. It is longer than any poll interval, back-off or pause in between.
	quiet = 30 * time.Second
	// stuck is how long a stalled lifecycle may remain stalled before the plan ends.
	stuck = 10 * time.Minute
	// mostJobs limits a plan; it is far above what any plan needs.
	mostJobs = 400_000
)

// driver runs one kind of job: a controller of the operator, or a part of the simulated world.
type driver struct {
	name string
	// operator is true if the driver's writes are the operator's.
	operator bool
	run      func(ctx context.Context, name types.NamespacedName) (reconcile.Result, error)
}

// engine runs the operator's own code in a simulated world until nothing more happens.
type engine struct {
	in      Input
	begin   time.Time
	clock   *virtual
	store   *store.Store
	client  client.Client
	world   *simulator.State
	queue   queue
	drivers []driver
	graphs  map[string]machines.Graph
	tape    *recorder
	ends    map[types.NamespacedName]*ending
	// changed is the time of the last change.
	changed time.Time
	// watching is the time until which running processes are synced.
	watching time.Time
	// frozen are pods that were not healthy in the input. They keep their state until they are deleted.
	frozen    map[types.UID]bool
	failures  map[job]failure
	collector *kafka.Collector
	// taken are the assumptions for each Kafka.
	taken map[types.NamespacedName]*assumptions
}

// Options of the operator whose actions the plan predicts.
type Options struct {
	// OperatorVersion is shown in status.operatorLastSuccessfulVersion.
	OperatorVersion string
	// Finalizing determines who raises the metadata version.
	Finalizing kafka.Finalizing
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
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	e := &engine{
		in: in, begin: begin, clock: &virtual{now: begin}, store: store.New(scheme, begin), queue: queue{due: map[job]time.Time{}},
		graphs: map[string]machines.Graph{}, ends: map[types.NamespacedName]*ending{}, changed: begin,
		frozen: map[types.UID]bool{}, failures: map[job]failure{}, taken: map[types.NamespacedName]*assumptions{},
	}
	e.client = e.store.Client()
	graphs, err := kafka.Machines()
	if err != nil {
		return nil, err
	}
	for _, g := range graphs {
		e.graphs[g.Name] = g
	}
	e.tape = newRecorder(begin, in.Table, e.graphs, e.kindOf)
	if err := e.assemble(o); err != nil {
		return nil, err
	}
	return e, e.populate(ctx)
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

// advance moves the clock, the store and the simulated world to a time.
func (e *engine) advance(at time.Time) {
	e.clock.now = at
	e.store.SetTime(at)
	e.world.Tick(e.world.Timeline.Milliseconds(at))
}

// do runs one job and requeues it as its result requests.
func (e *engine) do(ctx context.Context, j job) error {
	d := &e.drivers[j.driver]
	e.tape.actor = actor{operator: d.operator, name: d.name}
	result, err := d.run(ctx, j.name)
	e.tape.actor = actor{}
	switch {
	case err != nil && !d.operator:
		return fmt.Errorf("planning: simulating %s %s: %w", d.name, j.name, err)
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
	e.tape.written(w, e.clock.now)
	at := e.clock.now.Add(latency)
	for i := range e.drivers {
		e.wake(i, w, at)
	}
}

// kafkas lists the Kafka resources, sorted by name.
func (e *engine) kafkas() []*kafkav1beta2.Kafka {
	var out []*kafkav1beta2.Kafka
	e.store.Objects(kafkav1beta2.GroupVersion().WithKind(kafkav1beta2.KindKafka), func(o client.Object) {
		if k, ok := o.(*kafkav1beta2.Kafka); ok {
			out = append(out, k)
		}
	})
	return out
}
