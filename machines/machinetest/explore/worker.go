package explore

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
)

// worker runs the subject's code, one state at a time.
type worker[O lifecycle.Object, S, E any] struct {
	subject    *Subject[O, S, E]
	ctx        context.Context //nolint:containedctx // the search's own, for every pass
	scenario   *Scenario
	kind       lifecycle.Kind[O, S, E]
	lifecycles []machines.Evaluator[O, S, E]
	// states of each lifecycle, as its graph has them: what the search judges by.
	states     map[string]map[string]machines.GraphState
	reconciler *lifecycle.Reconciler[O, S, E]
	// continuing is the reconciler as its controller runs it.
	continuing reconcile.Reconciler
	main       func(objectStore) *record
	cached     *stateClient
	direct     *stateClient
	now        *moment
	// calls of the current reconcile, and its result.
	calls  *calls
	passed *passed
	text   []byte
	// describes means that a reconcile is described in words.
	describes bool
	// inspect is the subject's further check of a state; nil for none.
	inspect func() error
}

// passed is the result of a reconcile.
type passed struct {
	// edges that were committed, and what is wrong.
	edges      []edge
	violations []string
	// wanted are the lifecycles with a due transition.
	wanted []string
	// met are guards that said yes together.
	met []Rivals
	// said describes the events, if it is requested.
	said []string
}

// edge that was taken, with its lifecycle.
type edge struct{ lifecycle, event, from, to string }

// moment is a clock that does not advance.
type moment struct{ now time.Time }

func (m *moment) Now() time.Time                  { return m.now }
func (m *moment) Since(t time.Time) time.Duration { return m.now.Sub(t) }

func newWorker[O lifecycle.Object, S, E any](ctx context.Context, subject *Subject[O, S, E]) (*worker[O, S, E], error) {
	scheme := k8sruntime.NewScheme()
	for _, add := range subject.AddToScheme {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering the types of %s: %w", subject.Name, err)
		}
	}
	kind, err := apiutil.GVKForObject(subject.Object, scheme)
	if err != nil {
		return nil, fmt.Errorf("finding the kind of the object of %s: %w", subject.Name, err)
	}
	w := &worker[O, S, E]{
		subject: subject, ctx: log.IntoContext(ctx, logr.Discard()), scenario: &Scenario{scheme: scheme, ages: subject.Ages, main: kind},
		now: &moment{}, calls: &calls{}, passed: &passed{},
	}
	w.main = mainOf(kind, client.ObjectKeyFromObject(subject.Object))
	w.cached = &stateClient{scenario: w.scenario, calls: w.calls, statusStored: w.stored}
	w.direct = &stateClient{scenario: w.scenario, calls: w.calls, live: true}
	if w.kind, err = subject.Kind(w.scenario); err != nil {
		return nil, fmt.Errorf("making the kind of %s: %w", subject.Name, err)
	}
	if subject.Inspect != nil {
		if w.inspect, err = subject.Inspect(w.scenario); err != nil {
			return nil, fmt.Errorf("making the inspection of %s: %w", subject.Name, err)
		}
	}
	for _, lc := range w.kind.Lifecycles {
		w.lifecycles = append(w.lifecycles, lc.Evaluator(access.Key{}))
	}
	w.draw()
	w.spy()
	cached, live := client.Client(w.cached), client.Reader(w.direct)
	if subject.Through != nil {
		cached, live = subject.Through(cached, live)
	}
	w.reconciler = lifecycle.New(w.kind, lifecycle.Options{
		Client: cached, Live: live, Clock: w.now, Children: lifecycle.NewChildren(cached, live, w.now), DisruptionLocks: lifecycle.NewDisruptionLocks(),
	})
	w.continuing = w.reconciler.Continuing(access.Key{})
	return w, nil
}

func mainOf(kind schema.GroupVersionKind, key client.ObjectKey) func(objectStore) *record {
	return func(s objectStore) *record { return s.Find(kind, key) }
}

// Start is the time at which every search starts. The times of a Subject's objects and world are relative to it.
var Start = time.Date(2026, time.November, 20, 8, 0, 0, 0, time.UTC)

// begin returns the first state: everything is stored and in the cache, and the operator has just started.
func (w *worker[O, S, E]) begin() (*state, error) {
	s := &state{now: Start, world: w.subject.World, woken: true}
	w.scenario.at(s)
	for _, o := range append([]client.Object{w.subject.Object}, w.subject.Children...) {
		kind, err := apiutil.GVKForObject(o, w.scenario.scheme)
		if err != nil {
			return nil, fmt.Errorf("taking %T %s: %w", o, o.GetName(), err)
		}
		copied, _ := o.DeepCopyObject().(client.Object)
		if main := w.main(s.live); main != nil {
			for i := range copied.GetOwnerReferences() {
				ref := &copied.GetOwnerReferences()[i]
				ref.UID = main.Object.GetUID()
				owner := s.live.Find(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind), client.ObjectKey{Namespace: copied.GetNamespace(), Name: ref.Name})
				if owner != nil {
					ref.UID = owner.Object.GetUID()
				}
			}
		}
		created := copied.GetCreationTimestamp().Time
		if created.IsZero() {
			created = s.now
		}
		s.create(kind, copied, created)
	}
	s.seen = s.live
	return s, nil
}

// draw reads the states from the graphs.
func (w *worker[O, S, E]) draw() {
	w.states = map[string]map[string]machines.GraphState{}
	for _, lc := range w.lifecycles {
		of := map[string]machines.GraphState{}
		for _, s := range lc.Graph().States {
			of[s.Name] = s
		}
		w.states[lc.Name()] = of
	}
}

// graphState returns the state of the lifecycle's entry, and false if the graph does not contain it.
func (w *worker[O, S, E]) graphState(object client.Object, lifecycle string) (machines.GraphState, bool) {
	e := entryOf(object, lifecycle)
	if e == nil {
		return machines.GraphState{}, false
	}
	name, _ := machines.SplitEntryName(lifecycle)
	s, known := w.states[name][e.State]
	return s, known
}

// instances returns the lifecycles of the object: of one with several instances those that have an entry.
func (w *worker[O, S, E]) instances(object client.Object) []machines.Evaluator[O, S, E] {
	from, ok := object.(lifecycled)
	if !ok {
		return w.lifecycles
	}
	return pass.Stored(w.lifecycles, from.LifecycleStatus())
}

func atRest(s machines.GraphState) bool { return s.Kind == string(states.Rest) }

func atHold(s machines.GraphState) bool { return s.Kind == string(states.Hold) }

// spy wraps the kind to check every decision and effect.
func (w *worker[O, S, E]) spy() {
	w.kind.Lifecycles = make([]machines.Lifecycle[O, S, E], len(w.lifecycles))
	for i, lc := range w.lifecycles {
		w.kind.Lifecycles[i] = machines.LifecycleOf(access.Key{}, watched[O, S, E]{Evaluator: lc, passed: func() *passed { return w.passed }})
	}
	execute := w.kind.Execute
	if execute == nil {
		return
	}
	w.kind.Execute = func(ctx context.Context, request lifecycle.EffectRequest[O, S, E]) error {
		w.permitted(&request)
		return w.calls.effect(func() error {
			if w.describes {
				w.passed.said = append(w.passed.said, fmt.Sprintf("%s does %+v", request.RequestID.Lifecycle, described(request.Effect)))
			}
			return execute(ctx, request)
		})
	}
}

// pass reconciles once from the state.
func (w *worker[O, S, E]) pass(from *state, a attempt) *state {
	s := from.clone()
	s.woken, s.timer = false, time.Time{}
	w.flap(s)
	shown := s.current()
	result, err := w.reconcile(s, s.memory, s.term, calls{fault: a.fault, at: a.at, external: a.external, continues: a.continues, refuses: s.refusal()})
	s.refused = max(0, s.refused-1)
	w.judgePass(s, from.memory == nil, shown && a.fault == "")
	switch {
	case w.calls.dead:
		s.memory, s.woken = nil, true
		return s
	case err != nil:
		s.timer = s.now.Add(time.Second) // the work queue retries
	case result.RequeueAfter > 0:
		s.timer = s.now.Add(result.RequeueAfter)
	}
	s.memory = w.reconciler.SaveMemory(access.Key{})
	s.woken = s.woken || s.flaps > 0
	return s
}

// reconcile runs the operator of that term on the state, with the memory of its process.
func (w *worker[O, S, E]) reconcile(s *state, memory access.Memory, term uint32, plan calls) (reconcile.Result, error) {
	w.scenario.at(s).term = term
	w.now.now = s.now
	plan.made = w.calls.made[:0]
	*w.calls = plan
	w.passed = &passed{}
	w.reconciler.RestoreMemory(access.Key{}, memory)
	with := reconcile.Reconciler(w.reconciler)
	if plan.continues {
		with = w.continuing
	}
	return with.Reconcile(w.ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(w.subject.Object)})
}

// inspected returns what the subject's inspection finds wrong with a state.
func (w *worker[O, S, E]) inspected(s *state) error {
	if w.inspect == nil {
		return nil
	}
	w.scenario.at(s.clone())
	return w.inspect()
}

// described formats an effect.
func described(effect any) string {
	if s, ok := effect.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%+v", effect)
}
