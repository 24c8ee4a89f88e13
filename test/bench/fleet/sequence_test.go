package fleet

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/test/bench/sequence"
	sequenceapi "github.com/detent-dev/detent/test/bench/sequence/api"
)

var sequences = flag.String("sequences", "1x5,100x3,1000x1", "how many sequences run at once, and how many times: NxTIMES, with commas between")

// contender is one of the operators that do the same work.
type contender struct {
	name, kind string
	quiet      bool
	object     func() client.Object
	// phase of an object that was read.
	phase   func(client.Object) string
	samples []sample
}

// sample is what one run cost.
type sample struct {
	wall, manager, server time.Duration
	writes                map[string]int
}

func contenders() []*contender {
	framework := func(name string, quiet bool) *contender {
		return &contender{name: name, kind: kindSequence, quiet: quiet, object: func() client.Object { return &sequenceapi.Sequence{} }, phase: func(o client.Object) string {
			if s, ok := o.(*sequenceapi.Sequence); ok && len(s.Status.Lifecycles) > 0 {
				return s.Status.Lifecycles[0].State
			}
			return ""
		}}
	}
	byHand := func(name string, quiet bool) *contender {
		return &contender{name: name, kind: kindPlainSequence, quiet: quiet, object: func() client.Object { return &sequenceapi.PlainSequence{} }, phase: func(o client.Object) string {
			if s, ok := o.(*sequenceapi.PlainSequence); ok {
				return s.Status.Phase
			}
			return ""
		}}
	}
	return []*contender{
		framework("framework", false), byHand("by hand", false), framework("framework without events", true), byHand("by hand without events", true),
	}
}

// BenchmarkSequence lets the framework and a reconciler that is written by hand do the same work, in turns: twelve steps with one
// ConfigMap and one status write each. Each has a manager process of its own, and all share one API server.
func BenchmarkSequence(b *testing.B) {
	p := startPlane(b)
	for run := range strings.SplitSeq(*sequences, ",") {
		size, times := 0, 0
		if _, err := fmt.Sscanf(run, "%dx%d", &size, &times); err != nil {
			b.Fatalf("reading -sequences %q: %v", run, err)
		}
		all := contenders()
		for range times {
			for _, c := range all {
				c.samples = append(c.samples, p.measure(b, c, size))
			}
		}
		for _, c := range all {
			b.Run(fmt.Sprintf("%s=%d", c.name, size), func(b *testing.B) { c.report(b, size) })
		}
	}
}

// measure lets a new manager process bring so many objects to their end, after one that fills its caches. It removes everything
// afterwards.
func (p *plane) measure(tb testing.TB, c *contender, size int) sample {
	tb.Helper()
	manager := startManager(tb, instructions{Kind: c.kind, Kubeconfig: p.kubeconfig, Scale: 1, Quiet: c.quiet})
	p.create(tb, 0, 1, c.numbered)
	p.await(tb, manager, c, 1)
	before, server, began := manager.ask(askCounts), p.serverTime(tb), time.Now()
	p.create(tb, 1, size+1, c.numbered)
	after := p.await(tb, manager, c, size+1)
	s := sample{wall: time.Since(began), manager: after.CPU - before.CPU, server: p.serverTime(tb) - server, writes: map[string]int{}}
	p.check(tb, c, size+1)
	for what, n := range after.Writes {
		if made := n - before.Writes[what]; made > 0 {
			s.writes[what] = made
		}
	}
	manager.stop()
	for _, object := range []client.Object{c.object(), &corev1.ConfigMap{}, &eventsv1.Event{}} {
		must(tb, p.client.DeleteAllOf(tb.Context(), object, client.InNamespace(metav1.NamespaceDefault)))
	}
	return s
}

func (c *contender) numbered(n int) []client.Object {
	object := c.object()
	object.SetNamespace(metav1.NamespaceDefault)
	object.SetName(fmt.Sprintf("sequence-%05d", n))
	switch o := object.(type) {
	case *sequenceapi.Sequence:
		o.Spec.Text = "hello"
	case *sequenceapi.PlainSequence:
		o.Spec.Text = "hello"
	}
	return []client.Object{object}
}

// await the last writes of so many objects, including their events. It counts what the manager writes instead of watching the
// objects, because a watch costs the more the larger the objects are.
func (p *plane) await(tb testing.TB, manager *process, c *contender, size int) (r report) {
	tb.Helper()
	want := size * (sequence.Steps + 1)
	err := wait.PollUntilContextTimeout(tb.Context(), 5*time.Millisecond, settling, true, func(context.Context) (bool, error) {
		r = manager.ask(askWrites)
		return r.statusWrites() >= want && (c.quiet || r.Writes["post events"] >= want), nil
	})
	if err != nil {
		tb.Fatalf("%s did not bring %d objects to their end: %v", c.name, size, r.Writes)
	}
	return manager.ask(askCounts)
}

// check that the objects have come to their end. The last writes were counted when they were sent.
func (p *plane) check(tb testing.TB, c *contender, size int) {
	tb.Helper()
	for n := range size {
		object := c.numbered(n)[0]
		err := wait.PollUntilContextTimeout(tb.Context(), 10*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
			err := p.client.Get(ctx, client.ObjectKeyFromObject(object), object)
			return c.phase(object) == sequence.Done, err
		})
		if err != nil {
			tb.Fatalf("%s: object %d is in %q: %v", c.name, n, c.phase(object), err)
		}
	}
}

func (r report) statusWrites() int {
	n := 0
	for what, count := range r.Writes {
		if isStatus(what) {
			n += count
		}
	}
	return n
}

func isStatus(what string) bool {
	return strings.HasPrefix(what, "put ") && strings.HasSuffix(what, "/status")
}

// serverTime returns the processor time of the API server and its store.
func (p *plane) serverTime(tb testing.TB) time.Duration {
	tb.Helper()
	const ticks, utime = 100, 11 // per second, on Linux; the first of two fields after the name
	var all time.Duration
	for _, pid := range p.server {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		must(tb, err)
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		for _, field := range fields[utime : utime+2] {
			n, err := strconv.Atoi(field)
			must(tb, err)
			all += time.Duration(n) * time.Second / ticks
		}
	}
	return all
}

// report the medians.
func (c *contender) report(b *testing.B, size int) {
	median := func(of func(sample) float64) float64 {
		values := make([]float64, len(c.samples))
		for i, s := range c.samples {
			values[i] = of(s)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	b.ReportMetric(0, "ns/op") // means nothing here, and is left out
	b.ReportMetric(median(func(s sample) float64 { return s.wall.Seconds() }), "wall-s")
	b.ReportMetric(median(func(s sample) float64 { return s.manager.Seconds() }), "manager-cpu-s")
	b.ReportMetric(median(func(s sample) float64 { return s.server.Seconds() }), "server-cpu-s")
	writes := func(belongs func(what string) bool) float64 {
		return median(func(s sample) float64 {
			n := 0
			for what, count := range s.writes {
				if belongs(what) {
					n += count
				}
			}
			return float64(n) / float64(size)
		})
	}
	isEvent := func(what string) bool { return strings.HasSuffix(what, " events") }
	b.ReportMetric(writes(isStatus), "status-writes/object")
	b.ReportMetric(writes(isEvent), "event-writes/object")
	b.ReportMetric(writes(func(what string) bool { return !isStatus(what) && !isEvent(what) }), "child-writes/object")
}
