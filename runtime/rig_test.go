package runtime_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/store"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// rig is one turnstile on an in-memory API server, with a clock that only the test moves.
type rig struct {
	*testing.T
	world    *turnstile.World
	clock    *clocktesting.FakePassiveClock
	server   client.WithWatch
	cache    *laggingCache
	events   *events.FakeRecorder
	registry *prometheus.Registry
	kind     turnstile.Kind
	options  lifecycle.Options
	*lifecycle.Reconciler[*api.Turnstile, turnstile.Snapshot, turnstile.Effect]

	// writes are the requests that changed something, in order, such as "status" or "delete gate-arm-0".
	writes []string
	// liveGets counts reads of the turnstile that bypassed the cache.
	liveGets int
	// refuse, if set, answers a write before the server receives it. lose replaces the server's response to a write that was
	// carried out.
	refuse, lose func(write string) error
	// prune, if set, removes fields that the server's schema does not contain from a status before it is stored.
	prune func(*api.TurnstileStatus)
	uids  int
}

const (
	gate      = "gate"
	namespace = "default"
)

var gateKey = types.NamespacedName{Namespace: namespace, Name: gate}

func newRig(t *testing.T, change ...func(*rig)) *rig {
	t.Helper()
	t.Parallel() // rigs share no state
	return newLoneRig(t, change...)
}

// newLoneRig is newRig for a test that does not run in parallel.
func newLoneRig(t *testing.T, change ...func(*rig)) *rig {
	t.Helper()
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{corev1.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	lifecycles, err := turnstile.Lifecycles()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		T: t, world: turnstile.NewWorld(), clock: clocktesting.NewFakePassiveClock(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)),
		events: events.NewFakeRecorder(1000), registry: prometheus.NewRegistry(),
	}
	object := &api.Turnstile{
		ObjectMeta: metav1.ObjectMeta{Name: gate, Namespace: namespace, UID: "gate-uid", Generation: 1},
		Spec:       api.TurnstileSpec{Model: "A", Arms: 2, Lamp: "red", Approved: "any"},
	}
	server := store.New(scheme, r.clock.Now())
	if err := server.Put(object); err != nil {
		t.Fatal(err)
	}
	r.server = server.Client()
	r.cache = &laggingCache{WithWatch: interceptor.NewClient(r.server, r.record()), frozen: map[string]client.Object{}}
	metrics, err := lifecycle.NewMetrics(r.registry)
	if err != nil {
		t.Fatal(err)
	}
	r.kind = turnstile.NewKind(lifecycles, r.world, nil)
	r.options = lifecycle.Options{Client: r.cache, Live: r.liveReader(), Clock: r.clock, Events: r.events, Metrics: metrics}
	for _, c := range change {
		c(r)
	}
	r.restart()
	return r
}

// restart drops everything that a process keeps in memory.
func (r *rig) restart() { r.Reconciler = lifecycle.New(r.kind, r.options) }

// record notes every write and lets a test refuse it or lose its response.
func (r *rig) record() interceptor.Funcs {
	around := func(write string, do func() error) error {
		if r.refuse != nil {
			if err := r.refuse(write); err != nil {
				return err
			}
		}
		if err := do(); err != nil {
			return err
		}
		r.writes = append(r.writes, write)
		if r.lose != nil {
			return r.lose(write)
		}
		return nil
	}
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			r.uids++
			o.SetUID(types.UID("uid-" + strconv.Itoa(r.uids)))
			return around("create "+o.GetName(), func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return around("update "+o.GetName(), func() error { return c.Update(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return around("delete "+o.GetName(), func() error { return c.Delete(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return around("patch "+o.GetName(), func() error { return c.Patch(ctx, o, patch, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return around(sub, func() error { return r.updateSub(ctx, c.SubResource(sub), o, opts...) })
		},
	}
}

// updateSub stores the object pruned and returns the stored version.
func (r *rig) updateSub(ctx context.Context, c client.SubResourceClient, o client.Object, opts ...client.SubResourceUpdateOption) error {
	sent, ok := o.(*api.Turnstile)
	if r.prune == nil || !ok {
		return c.Update(ctx, o, opts...)
	}
	stored := sent.DeepCopy()
	r.prune(&stored.Status)
	if err := c.Update(ctx, stored, opts...); err != nil {
		return err
	}
	stored.DeepCopyInto(sent)
	return nil
}

func (r *rig) liveReader() client.Reader {
	return interceptor.NewClient(r.server, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*api.Turnstile); ok {
				r.liveGets++
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
}

// freeze makes the cache return the current version of the named ConfigMap until it is thawed.
func (r *rig) freeze(name string) {
	r.Helper()
	m := &corev1.ConfigMap{}
	if err := r.server.Get(r.Context(), types.NamespacedName{Namespace: namespace, Name: name}, m); err != nil {
		r.cache.frozen[name] = nil
		return
	}
	r.cache.frozen[name] = m
}

// freezeGate makes the cache return the current version of the turnstile until it is thawed.
func (r *rig) freezeGate() { r.cache.frozen[gate] = r.gate() }

func (r *rig) thaw() { clear(r.cache.frozen) }

// pass reconciles once.
func (r *rig) pass() reconcile.Result {
	r.Helper()
	result, err := r.try()
	if err != nil {
		r.Fatalf("pass: %v", err)
	}
	return result
}

func (r *rig) try() (reconcile.Result, error) {
	return r.Reconcile(r.Context(), reconcile.Request{NamespacedName: gateKey})
}

func (r *rig) gate() *api.Turnstile {
	r.Helper()
	got := &api.Turnstile{}
	if err := r.server.Get(context.Background(), gateKey, got); err != nil {
		r.Fatal(err)
	}
	return got
}

// entry returns the entry of a lifecycle, or its zero value.
func (r *rig) entry(name string) lifecyclev1.Lifecycle {
	r.Helper()
	for _, e := range r.gate().Status.Lifecycles {
		if e.Name == name {
			return e
		}
	}
	return lifecyclev1.Lifecycle{}
}

// until reconciles at every requeue, moving the clock, until the lifecycles are in these states.
func (r *rig) until(model, lamp string) {
	r.Helper()
	var path []string
	for range 200 {
		at := fmt.Sprintf("%s %s", r.entry("model").State, r.entry("lamp").State)
		if at == model+" "+lamp {
			return
		}
		if len(path) == 0 || path[len(path)-1] != at {
			path = append(path, at)
		}
		r.advance(r.pass().RequeueAfter)
	}
	r.Fatalf("never came to %s %s; walked %q", model, lamp, path)
}

// rest reconciles until both lifecycles rest and no write follows.
func (r *rig) rest() {
	r.Helper()
	for range 200 {
		before := len(r.writes)
		after := r.pass().RequeueAfter
		if len(r.writes) == before && r.entry("model").State == turnstile.Settled && r.entry("lamp").State == turnstile.Lit {
			return
		}
		r.advance(after)
	}
	r.Fatalf("never quiet: %q", r.writes)
}

func (r *rig) advance(d time.Duration) { r.clock.SetTime(r.clock.Now().Add(d)) }

// remove deletes the turnstile, as a user does.
func (r *rig) remove() {
	r.Helper()
	if err := r.server.Delete(r.Context(), r.gate()); err != nil {
		r.Fatal(err)
	}
}

// vanish deletes the turnstile although something is left to release.
func (r *rig) vanish() {
	r.Helper()
	r.finalizers()
	r.remove()
}

// finalizers replaces the finalizers of the turnstile.
func (r *rig) finalizers(names ...string) {
	r.Helper()
	object := r.gate()
	object.Finalizers = names
	if err := r.server.Update(r.Context(), object); err != nil {
		r.Fatal(err)
	}
}

// exists reports whether the API server has the turnstile.
func (r *rig) exists() bool {
	r.Helper()
	err := r.server.Get(r.Context(), gateKey, &api.Turnstile{})
	if err != nil && !apierrors.IsNotFound(err) {
		r.Fatal(err)
	}
	return err == nil
}

// spec changes the spec, as a user does.
func (r *rig) spec(change func(*api.TurnstileSpec)) {
	r.Helper()
	object := r.gate()
	change(&object.Spec)
	if err := r.server.Update(r.Context(), object); err != nil {
		r.Fatal(err)
	}
}

// status changes the stored status, as no user should.
func (r *rig) status(change func(*api.TurnstileStatus)) {
	r.Helper()
	object := r.gate()
	change(&object.Status)
	if err := r.server.Status().Update(r.Context(), object); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) annotate(key, value string) {
	r.Helper()
	object := r.gate()
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	object.Annotations[key] = value
	if value == "" {
		delete(object.Annotations, key)
	}
	if err := r.server.Update(r.Context(), object); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) site(do func(*turnstile.Site)) { r.world.At(gateKey, do) }

func (r *rig) condition(kind string) metav1.Condition {
	r.Helper()
	for _, c := range r.gate().Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}

// reported returns the events since the last call.
func (r *rig) reported() []string {
	var out []string
	for {
		select {
		case e := <-r.events.Events:
			out = append(out, e)
		default:
			return out
		}
	}
}

func count(list []string, what string) int {
	n := 0
	for _, s := range list {
		if s == what {
			n++
		}
	}
	return n
}

// visit hinders the world and brings a resting turnstile to a state.
func (r *rig) visit(v turnstile.Visit) {
	r.Helper()
	r.rest()
	if v.Site != nil {
		r.site(v.Site)
	}
	if v.Spec != nil {
		r.spec(v.Spec)
	}
	if v.Wiped {
		r.status(func(s *api.TurnstileStatus) { *s = api.TurnstileStatus{} })
	}
	model, lamp := turnstile.Settled, turnstile.Lit
	if v.Lifecycle == "model" {
		model = v.State
	} else {
		lamp = v.State
	}
	r.until(model, lamp)
	r.quiet()
}

// quiet reconciles until nothing was written for longer than projectionPause.
func (r *rig) quiet() {
	r.Helper()
	last, at := len(r.writes), r.clock.Now()
	for range 100 {
		r.advance(r.pass().RequeueAfter)
		if len(r.writes) != last {
			last, at = len(r.writes), r.clock.Now()
		}
		if r.clock.Now().Sub(at) > 15*time.Second {
			return
		}
	}
	r.Fatalf("never quiet: %q", r.writes)
}

// eachVisit runs a test in every state that a turnstile can be kept in.
func eachVisit(t *testing.T, run func(*rig, turnstile.Visit)) {
	t.Helper()
	for _, v := range turnstile.Visits() {
		t.Run(v.Lifecycle+"/"+v.State, func(t *testing.T) {
			r := newRig(t)
			r.visit(v)
			run(r, v)
		})
	}
}
