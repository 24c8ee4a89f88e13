package bench

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// bench is a greeting under the real runtime.
type bench struct {
	testing.TB
	*store
	reconciler reconcile.Reconciler
	// start returns a new reconciler, as a restart of the manager does.
	start func() reconcile.Reconciler
}

func newBench(tb testing.TB, measured bool) *bench {
	tb.Helper()
	log.SetLogger(logr.Discard())
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{corev1.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			tb.Fatal(err)
		}
	}
	s := &store{scheme: scheme, greeting: &api.Greeting{
		ObjectMeta: metav1.ObjectMeta{Name: "world", Namespace: "default", UID: "uid", Generation: 1, ResourceVersion: "1"},
		Spec:       api.GreetingSpec{Text: "hello"},
	}, revision: 1}
	kind, err := hello.Operator.Kind()
	if err != nil {
		tb.Fatal(err)
	}
	options := lifecycle.Options{Client: s, Live: s}
	if measured {
		if options.Metrics, err = lifecycle.NewMetrics(prometheus.NewRegistry()); err != nil {
			tb.Fatal(err)
		}
	}
	start := func() reconcile.Reconciler { return lifecycle.New(kind, options) }
	b := &bench{tb, s, start(), start}
	for b.state() != "Settled" || s.greeting.Status.ObservedGeneration != 1 {
		b.pass()
	}
	return b
}

func (b *bench) state() string {
	if l := b.greeting.Status.Lifecycles; len(l) > 0 {
		return l[0].State
	}
	return ""
}

func (b *bench) pass() {
	if _, err := b.reconciler.Reconcile(context.Background(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(b.greeting)}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAtRest is a pass that finds nothing to do: what a fleet costs while nothing happens.
func BenchmarkAtRest(b *testing.B) {
	for name, measured := range map[string]bool{"without metrics": false, "with metrics": true} {
		b.Run(name, func(b *testing.B) {
			one := newBench(b, measured)
			one.writes = 0
			b.ReportAllocs()
			for b.Loop() {
				one.pass()
			}
			if one.writes > 0 {
				b.Fatalf("%d writes at rest", one.writes)
			}
		})
	}
}

// BenchmarkTransition is a pass that commits one transition; the passes between are part of no measurement.
func BenchmarkTransition(b *testing.B) {
	one := newBench(b, false)
	b.ReportAllocs()
	for b.Loop() {
		one.greeting.Generation++
		one.greeting.Spec.Text = "good day"
		if one.said.Data["text"] == one.greeting.Spec.Text {
			one.greeting.Spec.Text = "hello"
		}
		one.pass()
		b.StopTimer()
		if one.state() != "Speaking" {
			b.Fatalf("no transition: %s", one.state())
		}
		one.reconciler = one.start() // else its transitions would be slowed down soon
		for one.state() != "Settled" {
			one.pass()
		}
		b.StartTimer()
	}
}

// BenchmarkChange is all of it: another text is wanted, spoken and heard.
func BenchmarkChange(b *testing.B) {
	one := newBench(b, false)
	b.ReportAllocs()
	writes := one.writes
	for b.Loop() {
		one.greeting.Generation++
		one.greeting.Spec.Text = "good day"
		if one.said.Data["text"] == one.greeting.Spec.Text {
			one.greeting.Spec.Text = "hello"
		}
		for range 3 { // text-changed, the action, heard
			one.pass()
		}
		b.StopTimer()
		one.reconciler = one.start() // else its transitions would be slowed down soon
		b.StartTimer()
	}
	b.ReportMetric(float64(one.writes-writes)/float64(b.N), "writes/op")
}

func TestAPassAtRestAllocatesLittle(t *testing.T) {
	const most = 50
	one := newBench(t, false)
	if got := testing.AllocsPerRun(100, one.pass); got > most {
		t.Errorf("%v allocations, want at most %d", got, most)
	}
}
