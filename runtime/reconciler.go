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

	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// Options of a Reconciler.
type Options struct {
	// Client reads from the cache and writes. Demanded.
	Client client.Client
	// Live reads from the API server. Demanded.
	Live client.Reader
	// Children reads and writes what the objects own; shared by the controllers of a process. Default: one of its own.
	Children *Children
	// Slots let one disruption of an object happen at a time; shared by the controllers of a process. Default: its own.
	Slots *Slots
	// Clock of the passes. Default: the system's.
	Clock clock.PassiveClock
	// Events receives one event per transition; a Recorder writes each of them. Default: none are sent.
	Events events.EventRecorder
	// Metrics receives states, transitions and durations. Default: none are kept.
	Metrics *Metrics
	// Journal is told of every decision that differs from the one before, after the commit. Default: none is kept.
	Journal Journal
	// DeadlineScale stretches every declared time (deadlines, polls, back-off, ages, the resync), for slow worlds and fast
	// tests. Default 1.
	DeadlineScale float64
	// ViewTimeout ends one look at the world. It must stay below the lease's renew deadline, so that a pass that began as the
	// leader does not go on for long as somebody else's rival. Default 5 seconds.
	ViewTimeout time.Duration
}

// Reconciler advances the lifecycles of one kind of object. It is safe for concurrent use on different objects.
type Reconciler[O Object, V, E any] struct {
	kind     Kind[O, V, E]
	client   client.Client
	live     client.Reader
	children *Children
	slots    *Slots
	clock    clock.PassiveClock
	events   events.EventRecorder
	metrics  *Metrics
	journal  Journal
	scale    float64
	patience time.Duration
	memories *memories
}

var _ reconcile.Reconciler = &Reconciler[Object, any, any]{}

// New makes a Reconciler. Register it with SetupWithManager, or call Reconcile directly.
func New[O Object, V, E any](kind Kind[O, V, E], options Options) *Reconciler[O, V, E] {
	r := &Reconciler[O, V, E]{
		kind: kind, client: options.Client, live: options.Live, clock: options.Clock, events: options.Events,
		metrics: options.Metrics, scale: options.DeadlineScale, patience: options.ViewTimeout, memories: newMemories(),
		children: options.Children, slots: options.Slots, journal: options.Journal,
	}
	if r.clock == nil {
		r.clock = clock.RealClock{}
	}
	if r.children == nil {
		r.children = NewChildren(r.client, r.live, r.clock)
	}
	if r.slots == nil {
		r.slots = NewSlots()
	}
	if r.scale == 0 {
		r.scale = 1
	}
	if r.patience == 0 {
		r.patience = defaultViewTimeout
	}
	if r.kind.Resync == 0 {
		r.kind.Resync = defaultResync
	}
	return r
}

const (
	defaultResync      = 10 * time.Minute
	defaultViewTimeout = 5 * time.Second
)

// Reconcile runs one pass over one object.
//
// Its result says when to look again by itself: at the earliest of an action's wish, a poll, a deadline and a back-off.
// Its error is about the object as a whole (the API server or the cache cannot be read or written); the trouble of a
// single lifecycle backs off by itself and is not returned, so that it holds back no other. A conflict is neither.
func (r *Reconciler[O, V, E]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := r.kind.New()
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		if ObjectMissing(err) {
			r.forget(request.NamespacedName)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("reading %s %s: %w", r.kind.Name, request, err)
	}
	after, err := r.run(ctx, object)
	switch {
	case err == nil:
	case errors.Is(err, errGone):
		// The watch reports the deletion, or the object that has the name now.
		return reconcile.Result{RequeueAfter: gonePause}, nil
	case apierrors.IsConflict(err), errors.Is(err, ErrBehind):
		// The object was written in between, or the cache is behind: the next pass sees it. Neither is a failure.
		return reconcile.Result{RequeueAfter: barrierPause}, nil
	default:
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: after}, nil
}

func (r *Reconciler[O, V, E]) forget(key types.NamespacedName) {
	r.drop(r.memories.forget(key))
}

// drop forgets an object that is gone.
func (r *Reconciler[O, V, E]) drop(old *memory) {
	if old == nil {
		return
	}
	r.metrics.drop(old)
	r.children.Forget(old.uid)
	if r.kind.SlotOf == nil {
		r.slots.Forget(old.uid)
	}
	if r.kind.Forget != nil {
		r.kind.Forget(old.uid)
	}
}

// run is one pass over one object.
func (r *Reconciler[O, V, E]) run(ctx context.Context, object O) (time.Duration, error) {
	key := client.ObjectKeyFromObject(object)
	m, replaced := r.memories.of(key, object.GetUID())
	r.drop(replaced)
	p := &onePass[O, V, E]{Reconciler: r, object: object, memory: m, now: r.clock.Now()}
	p.in = pass.In[O, V, E]{
		Object: object, Lifecycles: r.kind.Lifecycles, Status: object.LifecycleStatus(), UID: string(object.GetUID()),
		Generation: object.GetGeneration(), Now: p.now, DeadlineScale: r.scale, Last: m.moved, Shown: r.kind.Shown,
		View:   func(needs []transitions.Need, live bool) (V, error) { return p.view(ctx, needs, live) },
		Slowed: p.slowed,
	}
	switch {
	case object.GetDeletionTimestamp() != nil:
		return 0, nil
	case p.stopPruned(ctx):
		return p.wake.soonest, nil
	case paused(object):
		return p.pause(ctx)
	case resumed(object):
		return p.resume(ctx)
	}
	return p.advance(ctx)
}

// onePass is what one pass over one object works with.
type onePass[O Object, V, E any] struct {
	*Reconciler[O, V, E]
	object O
	memory *memory
	now    time.Time
	in     pass.In[O, V, E]
	wake   wake
	// proof of the bookmark, as far as this pass has one.
	proof proof
}

// advance decides, then commits an edge, or else acts, repairs, applies and shows.
func (p *onePass[O, V, E]) advance(ctx context.Context) (time.Duration, error) {
	step, err := pass.Decide(p.in)
	if err != nil {
		return p.wake.soonest, p.blind(ctx, err)
	}
	p.memory.blindSince = time.Time{}
	p.defects(ctx, &step)
	p.pace(&step)
	if len(step.Moved) > 0 {
		p.repairBefore(ctx, &step)
		return p.commit(ctx, step.View, step.Moved, step.Decided)
	}
	acted, turned, err := p.act(ctx, &step)
	if err != nil || turned != nil {
		p.repair(ctx, step.View, p.writer())
	}
	if err != nil {
		return p.wake.soonest, err
	}
	if turned != nil {
		return p.commit(ctx, turned.view, []pass.Moved{turned.Moved}, false)
	}
	p.tend(ctx, step.View, acted)
	if err := p.show(ctx, &step); err != nil {
		return 0, err
	}
	p.stayed(&step)
	return p.next(&step), nil
}

// defects tells of the machines that could not decide; the other lifecycles go on.
func (p *onePass[O, V, E]) defects(ctx context.Context, step *pass.Step[V, E]) {
	for i := range step.Standings {
		s := &step.Standings[i]
		if err := s.Decision.Err; err != nil {
			p.memory.trouble(s.Name).deciding = err.Error()
			p.defective(ctx, s.Name, err)
		} else if t := p.memory.lifecycles[s.Name]; t != nil {
			t.deciding = ""
		}
	}
}

// writer writes children once the bookmark is proven current: a non-empty write is an action.
func (p *onePass[O, V, E]) writer() *childWriter {
	return &childWriter{children: p.children, owner: p.object, prove: func(ctx context.Context) error { return p.proven(ctx, false) }}
}

// proven fails with ErrBehind while the bookmark is not known to be current.
func (p *onePass[O, V, E]) proven(ctx context.Context, live bool) error {
	if p.proof.current && (p.proof.live || !live) {
		return nil
	}
	var err error
	if p.proof, err = p.prove(ctx, p.object, p.memory, p.now, live); err != nil {
		return err
	}
	if !p.proof.current {
		p.wake.in(p.proof.again)
		return ErrBehind
	}
	return nil
}

// scaled is a declared time as this process takes it.
func (p *onePass[O, V, E]) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * p.scale)
}

func (p *onePass[O, V, E]) key() types.NamespacedName { return client.ObjectKeyFromObject(p.object) }

func (p *onePass[O, V, E]) view(ctx context.Context, needs []transitions.Need, live bool) (V, error) {
	look := Viewing{
		Needs: needs, Live: live, Now: p.now, MaxAge: p.maxAge, Read: p.children.Reader(p.object.GetUID(), live),
		Tickets: make(map[string]machines.Ticket, len(p.in.Lifecycles)),
	}
	for _, lc := range p.in.Lifecycles {
		look.Tickets[lc.Name()] = machines.TicketOf(p.in.UID, lc.Name(), pass.Entry(p.in.Status, lc.Name()))
	}
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	var view V
	err := guarded(ctx, "looking", func() (err error) {
		view, err = p.kind.View(ctx, p.object, look)
		return err
	})
	return view, err
}

// maxAge of an observation: as declared while a lifecycle that needs it is under way, the resync interval while all rest.
func (p *onePass[O, V, E]) maxAge(need transitions.Need) time.Duration {
	age := p.scaled(p.kind.Resync)
	for _, lc := range p.in.Lifecycles {
		entry := pass.Entry(p.in.Status, lc.Name())
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
