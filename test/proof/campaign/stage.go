package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/test/lab"
)

// stage is a namespace with one object at rest, ready for a run.
type stage struct {
	environment *Environment
	subject     *Subject
	namespace   string
	world       World
	recorder    *WatchRecorder
	// passes counts the reconciles of all operators of a run. ended counts those of the last operator after which nothing was
	// left to do.
	passes, ended atomic.Int64
	// changed is the number of changes that were made.
	changed int
}

// quietFor is the time without a write after which a run counts as over. No write may follow for twice as long.
const quietFor = 300 * time.Millisecond

// stages returns namespaces with objects that one operator has brought to rest.
func (a *Environment) stages(ctx context.Context, s *Subject, n int) ([]*stage, error) {
	out := make([]*stage, n)
	names := make([]string, n)
	for i := range out {
		names[i] = fmt.Sprintf("run-%d", a.spaces.Add(1))
		st, err := a.stage(ctx, s, names[i])
		if err != nil {
			return nil, err
		}
		out[i] = st
	}
	operator, err := a.operator(ctx, s, out, nil, nil)
	if err != nil {
		return nil, err
	}
	for _, st := range out {
		if err := st.settle(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("coming to rest for the first time: %w", err), operator.Kill())
		}
	}
	return out, operator.Kill()
}

func (a *Environment) stage(ctx context.Context, s *Subject, namespace string) (*stage, error) {
	if err := a.Admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return nil, err
	}
	world, err := s.World(a, namespace)
	if err != nil {
		return nil, err
	}
	st := &stage{environment: a, subject: s, namespace: namespace, world: world, recorder: a.recorders.begin(namespace)}
	objects := []client.Object{}
	if s.Companions != nil {
		objects = s.Companions(namespace)
	}
	for _, o := range append(objects, s.Object(namespace)) {
		if err := a.Admin.Create(ctx, o); err != nil {
			return nil, err
		}
	}
	return st, nil
}

// close stops recording the namespace and deletes its pods. The rest stays, and costs nothing.
func (s *stage) close(ctx context.Context) error {
	s.environment.recorders.end(s.namespace)
	err := s.environment.Admin.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(s.namespace), client.GracePeriodSeconds(0))
	s.world.Close()
	return err
}

// operator starts an operator for the stages, with a plan if there is one.
func (a *Environment) operator(ctx context.Context, s *Subject, stages []*stage, gate *lab.Gate, plan *lab.Plan) (*lab.Operator, error) {
	setup := lab.Setup{DeadlineScale: s.Scale, Cache: s.Cache, Gate: gate, Plan: plan, Describe: describeRequest, Binary: true, Wrap: unheard}
	for _, st := range stages {
		setup.Namespaces = append(setup.Namespaces, st.namespace)
	}
	each := func(count func(*stage) *atomic.Int64) func() {
		return func() {
			for _, st := range stages {
				count(st).Add(1)
			}
		}
	}
	passes := Passes{
		Begun: each(func(st *stage) *atomic.Int64 { return &st.passes }), Ended: each(func(st *stage) *atomic.Int64 { return &st.ended }),
	}
	setup.Register = func(mgr ctrl.Manager, options lifecycle.Options, around func(string, func() error) error) error {
		return stages[0].world.Register(mgr, options, around, passes)
	}
	operator, err := a.Lab.Start(ctx, setup)
	if err != nil {
		return nil, err
	}
	if !operator.Synced(ctx) {
		return nil, errors.Join(errors.New("the operator's caches were not filled"), operator.Kill())
	}
	return operator, nil
}

// await waits until the condition returns no objection. The condition is evaluated after each event. The error contains its
// last objection.
func (s *stage) await(ctx context.Context, objection func() string) error {
	begun := time.Now()
	for {
		next, quiet := s.recorder.next()
		why := objection()
		if why == "" {
			return nil
		}
		if min(quiet, time.Since(begun)) > cmp.Or(s.subject.Patience, time.Minute) {
			return fmt.Errorf("nothing happens: %s", why)
		}
		select {
		case <-next:
		case <-time.After(quietFor):
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", context.Cause(ctx), why)
		}
	}
}

// settle waits until the object rests for the first time, every event was observed, and no write follows.
func (s *stage) settle(ctx context.Context) error {
	if err := s.await(ctx, func() string { return s.busy(0) }); err != nil {
		return err
	}
	return s.calm(ctx)
}

// busy returns why the object does not rest in the generation or a later one, or what is not observed yet.
func (s *stage) busy(generation int64) string {
	if why := s.restless(generation); why != "" {
		return why
	}
	return s.world.Lingers(s.recorder)
}

// calm waits until no write occurs for a while.
func (s *stage) calm(ctx context.Context) error {
	for {
		next, quiet := s.recorder.next()
		if quiet >= quietFor {
			return nil
		}
		select {
		case <-next:
		case <-time.After(quietFor - quiet):
		case <-ctx.Done():
			return fmt.Errorf("%w: something is written again and again", context.Cause(ctx))
		}
	}
}

// main reports whether an object is the one that is changed. Its children may have lifecycles too.
func (s *stage) main(o client.Object) (lifecycle.Object, bool) {
	if kindOf(o) != kindOf(s.subject.Object(s.namespace)) {
		return nil, false
	}
	found, ok := o.(lifecycle.Object)
	return found, ok
}

// object returns the last version of the object.
func (s *stage) object() lifecycle.Object {
	for _, o := range s.recorder.Latest() {
		if found, ok := s.main(o); ok {
			return found
		}
	}
	return nil
}

// restless returns why the object does not rest, or an empty string.
func (s *stage) restless(generation int64) string {
	o := s.object()
	if o == nil || o.GetGeneration() < generation {
		return "the object was not shown yet"
	}
	status := o.LifecycleStatus()
	for name, graph := range s.subject.Graphs {
		for _, entry := range entriesOf(status, name) {
			if !rests(graph.States, entry.State) {
				return fmt.Sprintf("%s is in %q, waiting for %v", entry.Name, entry.State, entry.WaitingFor)
			}
		}
	}
	if status.ObservedGeneration != o.GetGeneration() || !meta.IsStatusConditionTrue(status.Conditions, lifecycle.Ready) {
		return fmt.Sprintf("generation %d of %d was observed, and the conditions are %v", status.ObservedGeneration, o.GetGeneration(), status.Conditions)
	}
	return ""
}

// entriesOf returns the entries of a lifecycle: one for each of its instances, or an empty one.
func entriesOf(status *lifecyclev1.Status, name string) (out []lifecyclev1.Lifecycle) {
	for _, l := range status.Lifecycles {
		if of, _ := machines.SplitEntryName(l.Name); of == name {
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return []lifecyclev1.Lifecycle{{Name: name}}
	}
	return out
}

func rests(known []machines.GraphState, name string) bool {
	return slices.ContainsFunc(known, func(st machines.GraphState) bool { return st.Name == name && st.Kind == string(states.Rest) })
}
