package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// Options of a Reconciler.
type Options struct {
	// Client reads from the cache and writes. Required.
	Client client.Client
	// Live reads from the API server. Required.
	Live client.Reader
	// Children reads and writes the children. Share one between all controllers of a process. Optional; default: a new one.
	Children *Children
	// DisruptionLocks holds the disruption locks. Share one between all controllers of a process that disrupt the same children.
	// Optional; default: a new one.
	DisruptionLocks *DisruptionLocks
	// Clock that a reconcile reads. Optional; default: the system clock.
	Clock clock.PassiveClock
	// Events receives one event per transition. A Recorder writes each of them; the recorder of client-go folds some. Optional;
	// default: none.
	Events events.EventRecorder
	// Metrics receives states, transitions and durations. Optional; default: none.
	Metrics *Metrics
	// Journal receives every decision that differs from the previous one, after the commit. Optional; default: that of the context, see
	// WithJournal, or none.
	Journal Journal
	// DeadlineScale multiplies every declared duration (deadlines, polls, back-off, ages, the resync), for slow environments
	// and fast tests. Optional; default: 1.
	DeadlineScale float64
}

// Reconciler reconciles one kind of object. It is safe for concurrent use on different objects.
type Reconciler[O Object, S, E any] struct {
	kind            Kind[O, S, E]
	client          client.Client
	live            client.Reader
	children        *Children
	disruptionLocks *DisruptionLocks
	clock           clock.PassiveClock
	events          events.EventRecorder
	metrics         *Metrics
	journal         Journal
	scale           float64
	memories        *memories
	// lifecycles are those of the kind.
	lifecycles []machines.Evaluator[O, S, E]
}

var _ reconcile.Reconciler = &Reconciler[Object, any, any]{}

// New returns a Reconciler. Register it with SetupWithManager, or call Reconcile directly.
func New[O Object, S, E any](kind Kind[O, S, E], options Options) *Reconciler[O, S, E] {
	r := &Reconciler[O, S, E]{
		kind: kind.withDefaults(), client: options.Client, live: options.Live, clock: options.Clock, events: options.Events,
		metrics: options.Metrics, scale: options.DeadlineScale, memories: newMemories(),
		children: options.Children, disruptionLocks: options.DisruptionLocks, journal: options.Journal,
	}
	for _, lc := range kind.Lifecycles {
		r.lifecycles = append(r.lifecycles, lc.Evaluator(access.Key{}))
	}
	if r.clock == nil {
		r.clock = clock.RealClock{}
	}
	if r.children == nil {
		r.children = NewChildren(r.client, r.live, r.clock)
	}
	if r.disruptionLocks == nil {
		r.disruptionLocks = NewDisruptionLocks()
	}
	if r.scale == 0 {
		r.scale = 1
	}
	return r
}

// Reconcile reconciles one object: it commits transitions, or it runs actions and writes children. The controller that
// SetupWithManager registers continues after a commit; this method does not.
//
// The result requeues the object at the earliest of an action's RequeueAfter, a poll interval, a deadline and the end of a
// back-off. An error concerns the object as a whole: the API server or the cache cannot be read or written. The failure of a
// single lifecycle is retried with its own back-off and is not returned, so that it does not delay other lifecycles. A conflict
// and a stale cache are not errors: the object is requeued.
func (r *Reconciler[O, S, E]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	_, result, err := r.reconcile(ctx, request)
	return result, err
}

// reconcile returns the scope of the reconcile as well, or nil if the object does not exist or could not be read.
func (r *Reconciler[O, S, E]) reconcile(ctx context.Context, request reconcile.Request) (*reconcileScope[O, S, E], reconcile.Result, error) {
	object := r.kind.New()
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		if ObjectMissing(err) {
			r.forget(request.NamespacedName)
			return nil, reconcile.Result{}, nil
		}
		return nil, reconcile.Result{}, fmt.Errorf("reading %s %s: %w", r.kind.Name, request, err)
	}
	p := r.scopeOf(ctx, object)
	result, err := p.reconcile(ctx)
	return p, result, err
}

func (r *Reconciler[O, S, E]) forget(key types.NamespacedName) {
	r.drop(r.memories.forget(key))
}

// drop releases the state that the process keeps for a deleted object.
func (r *Reconciler[O, S, E]) drop(old *memory) {
	if old == nil {
		return
	}
	r.metrics.drop(old)
	r.children.Forget(old.uid)
	if r.kind.DisruptionLockOf == nil {
		r.disruptionLocks.Forget(old.uid)
	}
	if r.kind.Cleanup != nil {
		r.kind.Cleanup(old.uid)
	}
}

// reconcileScope is the scope of one reconcile of one object.
type reconcileScope[O Object, S, E any] struct {
	*Reconciler[O, S, E]
	object  O
	memory  *memory
	now     time.Time
	in      pass.In[O, S, E]
	entries pass.Entries
	requeue requeue
	// journal is that of the Reconciler or of the context; nil for none.
	journal Journal
	// lifecycles with their instances: those of the status, or those of the decision once there is one.
	lifecycles []machines.Evaluator[O, S, E]
	// dropped are the entries to remove, because their instances are gone.
	dropped []string
	// proof that the persisted state is current, as far as this reconcile has obtained it.
	proof proof
	// repaired means that lost children were restored in this reconcile, as far as the snapshot shows.
	repaired bool
	// committed means that this reconcile has written transitions. stored is then the object that the API server returned.
	committed bool
	stored    O
}

// scopeOf returns the scope of a reconcile of an object that exists.
func (r *Reconciler[O, S, E]) scopeOf(ctx context.Context, object O) *reconcileScope[O, S, E] {
	key := client.ObjectKeyFromObject(object)
	m, replaced := r.memories.of(key, object.GetUID())
	r.drop(replaced)
	return &reconcileScope[O, S, E]{Reconciler: r, object: object, memory: m, now: r.clock.Now(), journal: r.journalOf(ctx)}
}

// reconcile reconciles the object and maps errors to requeues.
func (p *reconcileScope[O, S, E]) reconcile(ctx context.Context) (reconcile.Result, error) {
	after, err := p.run(ctx)
	switch {
	case err == nil:
	case errors.Is(err, errGone):
		// The watch reports the deletion, or the object that has the name now.
		return reconcile.Result{RequeueAfter: gonePause}, nil
	case apierrors.IsConflict(err), errors.Is(err, ErrStale):
		// The object was written in the meantime, or the cache is stale. The next reconcile reads the new version.
		return reconcile.Result{RequeueAfter: freshnessRequeue}, nil
	default:
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: after}, nil
}

func (p *reconcileScope[O, S, E]) run(ctx context.Context) (time.Duration, error) {
	object, m := p.object, p.memory
	p.lifecycles = pass.Stored(p.Reconciler.lifecycles, object.LifecycleStatus())
	p.in = pass.In[O, S, E]{
		Object: object, Lifecycles: p.Reconciler.lifecycles, Status: object.LifecycleStatus(), UID: string(object.GetUID()),
		Generation: object.GetGeneration(), Deleting: isDeleting(object), Now: p.now, DeadlineScale: p.scale, Last: m.moved, AlwaysNeeded: p.kind.AlwaysNeeded,
		Observe: func(needs []transitions.Need, live bool) (S, error) { return p.observe(ctx, needs, live) },
		Slowed:  p.slowed,
	}
	p.entries = pass.EntriesOf(p.in.Status)
	switch {
	case isReleased(object):
		return 0, nil
	case p.stopPruned(ctx):
		return p.requeue.soonest, nil
	case IsPaused(object, p.kind.PauseAnnotations...):
		return p.pause(ctx)
	case resumed(object):
		return p.resume(ctx)
	}
	return p.advance(ctx)
}

// advance evaluates the lifecycles. It commits the transitions that are due; without one it runs actions, repairs and applies
// children, and writes the changed status.
func (p *reconcileScope[O, S, E]) advance(ctx context.Context) (time.Duration, error) {
	step, err := pass.Decide(p.in)
	if err != nil {
		return p.requeue.soonest, p.observationFailed(ctx, err)
	}
	p.memory.observationFailedSince = time.Time{}
	p.lifecycles, p.dropped = step.Lifecycles, step.Dropped
	p.defects(ctx, &step)
	p.pace(&step)
	if len(step.Moved) > 0 {
		p.repairBefore(ctx, &step)
		return p.commit(ctx, step.Snapshot, step.Moved, step.Decided)
	}
	if step.Released {
		err := p.removeFinalizer(ctx)
		return p.requeue.soonest, err
	}
	acted, failed, err := p.act(ctx, &step)
	if err != nil || failed != nil {
		p.repair(ctx, step.Snapshot, p.writer())
	}
	if err != nil {
		return p.requeue.soonest, err
	}
	if failed != nil {
		return p.commit(ctx, failed.snapshot, []pass.Moved{failed.Moved}, false)
	}
	p.reconcileChildren(ctx, step.Snapshot, acted)
	if err := p.show(ctx, &step); err != nil {
		return 0, err
	}
	p.stayed(&step)
	return p.next(&step), nil
}

// defects records the lifecycles whose machine failed to decide, and those with instances that are not managed. The other lifecycles are
// reconciled.
func (p *reconcileScope[O, S, E]) defects(ctx context.Context, step *pass.Step[O, S, E]) {
	for i := range step.Results {
		s := &step.Results[i]
		if err := s.Decision.Err; err != nil {
			p.memory.trouble(s.Name).deciding = err
			if !isUnmanaged(err) {
				p.defective(ctx, s.Name, err)
			}
		} else if t := p.memory.lifecycles[s.Name]; t != nil {
			t.deciding = nil
		}
		if t := p.memory.lifecycles[s.Name]; t != nil || s.Unlisted != "" {
			p.memory.trouble(s.Name).unlisted = s.Unlisted
		}
	}
}

// writer returns a writer of children that requires a current persisted state before its first write.
func (p *reconcileScope[O, S, E]) writer() *childWriter {
	return &childWriter{children: p.children, owner: p.object, guard: p}
}

// fresh implements writeGuard.
func (p *reconcileScope[O, S, E]) fresh(ctx context.Context) error { return p.proven(ctx, false) }

// proven returns ErrStale while the persisted state is not known to be current.
func (p *reconcileScope[O, S, E]) proven(ctx context.Context, live bool) error {
	if p.proof.current && (p.proof.live || !live) {
		return nil
	}
	var err error
	if p.proof, err = p.prove(ctx, p.object, p.memory, p.now, live); err != nil {
		return err
	}
	if !p.proof.current {
		p.requeue.after(p.proof.again)
		return ErrStale
	}
	return nil
}

// scaled returns a declared duration multiplied by the deadline scale.
func (p *reconcileScope[O, S, E]) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * p.scale)
}

func (p *reconcileScope[O, S, E]) key() types.NamespacedName {
	return client.ObjectKeyFromObject(p.object)
}

func (p *reconcileScope[O, S, E]) observe(ctx context.Context, needs []transitions.Need, live bool) (S, error) {
	request := ObserveRequest{
		Needs: needs, Live: live, Now: p.now, MaxAge: p.maxAge, Read: p.children.Reader(p.object.GetUID(), live),
		RequestIDs: make(map[string]machines.RequestID, len(p.lifecycles)),
	}
	for _, lc := range p.lifecycles {
		request.RequestIDs[lc.Name()] = machines.RequestIDOf(p.in.UID, lc.Name(), p.entries.Find(lc.Name()))
	}
	ctx, cancel := context.WithTimeout(ctx, p.kind.ObserveTimeout)
	defer cancel()
	var snapshot S
	err := guarded(ctx, "observing", func() (err error) {
		snapshot, err = p.kind.Observe(ctx, p.object, request)
		return err
	})
	return snapshot, err
}

// maxAge returns the maximum age of an observation: as declared while a lifecycle that needs it is under way, and the resync
// interval while all of them rest.
func (p *reconcileScope[O, S, E]) maxAge(need transitions.Need) time.Duration {
	age := p.scaled(p.kind.Resync)
	for _, lc := range p.lifecycles {
		entry := p.entries.Find(lc.Name())
		if entry == nil {
			continue
		}
		if state, ok := lc.State(entry.State); ok && !state.Resting() {
			if declared := lc.Need(need).MaxAge; declared > 0 {
				age = min(age, p.scaled(declared))
			}
		}
	}
	return age
}
