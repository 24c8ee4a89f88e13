// Package fleet measures what a manager of many resources costs on a real API server: while nothing happens, and for each step of
// their lifecycles, compared with a reconciler that is written by hand.
package fleet

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/examples/hello/api"
	lifecycle "github.com/detent-dev/detent/runtime"
)

var (
	greetings = flag.Int("greetings", 10_000, "how many greetings the fleet has")
	clusters  = flag.Int("clusters", 100, "how many Kafka clusters the fleet has")
	nodes     = flag.Int("nodes", 3, "how many nodes each Kafka cluster has")
)

func TestMain(m *testing.M) {
	if text := os.Getenv(manage); text != "" {
		if err := runManager(text, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

const (
	// settling is how long a fleet may take to come to rest, and observed how long it is watched then.
	settling, observed = 20 * time.Minute, time.Minute
	// hurry makes the ten minutes after which an object at rest is looked at again half a minute, so that all of a fleet is looked
	// at within the minute that is watched.
	hurry = 0.05
	// heldBack is more than the ten seconds for which a manager may hold back a status that is only shown.
	heldBack = 15 * time.Second
)

// BenchmarkFleet brings a fleet to rest, starts its managers anew, and watches them for a minute. Every resource is looked at
// again within that minute. Nothing may be written but renewals of leases.
func BenchmarkFleet(b *testing.B) {
	p := startPlane(b)
	p.startWorld(b)
	herds := []*herd{
		p.newHerd(b, kindGreeting, "greeting", *greetings, &api.Greeting{}, greeting),
		p.newHerd(b, kindKafka, "kafka", *clusters, &kafkav1beta2.Kafka{}, cluster(*nodes)),
	}
	for _, h := range herds {
		h.first()
	}
	for _, h := range herds {
		h.rest()
	}
	for _, h := range herds {
		h.restart()
	}
	watch(b, herds)
	for _, h := range herds {
		b.Run(fmt.Sprintf("%s=%d", h.kind, h.size), h.report)
		h.manager.stop()
	}
}

// herd is all resources of one kind, and their manager.
type herd struct {
	tb    testing.TB
	plane *plane
	kind  string
	// controller whose passes count.
	controller string
	size       int
	of         func(int) []client.Object
	settled    *settled
	manager    *process

	// alone is the manager of a single resource, before and after are those of all around the minute.
	alone, before, after report
	// resting is how long all but the first took to come to rest, and anew how long a new manager took to look at all.
	resting, anew time.Duration
	// writes that coming to rest took.
	writes int
}

func (p *plane) newHerd(tb testing.TB, kind, controller string, size int, object lifecycle.Object, of func(int) []client.Object) *herd {
	return &herd{tb: tb, plane: p, kind: kind, controller: controller, size: size, of: of, settled: p.watchSettled(tb, object)}
}

func (h *herd) start(scale float64) {
	h.manager = startManager(h.tb, instructions{Kind: h.kind, Kubeconfig: h.plane.kubeconfig, Proxy: h.plane.proxy, Scale: scale})
}

// first makes one resource, and measures a manager that has no other.
func (h *herd) first() {
	h.start(1)
	h.plane.create(h.tb, 0, 1, h.of)
	h.settled.await(h.tb, 1, patience)
	h.again(1)
	h.alone = h.manager.ask(askMemory)
	h.manager.stop()
}

// rest makes all others, and waits until they have come to rest.
func (h *herd) rest() {
	h.start(1)
	began := time.Now()
	h.plane.create(h.tb, 1, h.size, h.of)
	h.settled.await(h.tb, h.size, settling)
	h.resting = time.Since(began)
	r := h.silent()
	h.writes = r.writes()
	h.tb.Logf("%d %s rest; their manager wrote %v", h.size, h.kind, r.Writes)
}

// silent waits until the manager has written nothing for longer than it holds back a status that is only shown. A manager that is
// stopped before leaves such a write to the next one.
func (h *herd) silent() report {
	h.tb.Helper()
	last, since := h.manager.ask(askCounts), time.Now()
	err := wait.PollUntilContextTimeout(h.tb.Context(), time.Second, settling, true, func(context.Context) (bool, error) {
		r := h.manager.ask(askCounts)
		if r.writes() != last.writes() {
			last, since = r, time.Now()
		}
		return time.Since(since) > heldBack, nil
	})
	if err != nil {
		h.tb.Fatalf("the manager of %d resources of kind %s does not stop to write: %v", h.size, h.kind, last.Writes)
	}
	return last
}

// restart measures how long a new manager takes until it has looked at all.
func (h *herd) restart() {
	began := time.Now()
	h.again(h.size)
	h.anew = time.Since(began)
}

// again starts a new manager, and waits until it has looked at so many.
func (h *herd) again(size int) {
	h.tb.Helper()
	h.manager.stop()
	h.start(hurry)
	err := wait.PollUntilContextTimeout(h.tb.Context(), 100*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return h.manager.ask(askCounts).Passes[h.controller] >= size, nil
	})
	if err != nil {
		h.tb.Fatalf("a new manager has not looked at %d of kind %s: %v", size, h.kind, h.manager.ask(askCounts).Passes)
	}
}

// watch the managers of the herds for a minute.
func watch(tb testing.TB, herds []*herd) {
	tb.Helper()
	for _, h := range herds {
		h.before = h.manager.ask(askCounts)
	}
	select {
	case <-time.After(observed):
	case <-tb.Context().Done():
	}
	for _, h := range herds {
		h.after = h.manager.ask(askMemory)
	}
}

// electing is all that a new manager may write besides its lease: the event of the lease that it leads now.
var electing = map[string]int{"post events": 1}

// report reports the numbers, and fail if the herd was not silent or was not looked at.
func (h *herd) report(b *testing.B) {
	inMinute := h.after.writes() - h.before.writes()
	if diff := cmp.Diff(electing, h.after.Writes); diff != "" || inMinute > 0 {
		b.Errorf("a new manager of %d resources at rest writes, %d times in the minute (-want +got):\n%s", h.size, inMinute, diff)
	}
	passes := h.after.Passes[h.controller] - h.before.Passes[h.controller]
	if passes < h.size {
		b.Errorf("%d passes over %d resources: not all were looked at in the minute", passes, h.size)
	}
	others := float64(max(1, h.size-1))
	for unit, value := range map[string]float64{
		"ns/op":      0, // means nothing here, and is left out
		"writes/min": float64(inMinute) / observed.Minutes(), "passes/min": float64(passes) / observed.Minutes(),
		"cpu-s/min":     (h.after.CPU - h.before.CPU).Seconds() / observed.Minutes(),
		"heap-B/object": (float64(h.after.Heap) - float64(h.alone.Heap)) / others, "rss-B/object": (float64(h.after.Resident) - float64(h.alone.Resident)) / others,
		"heap-B": float64(h.after.Heap), "rss-B": float64(h.after.Resident), "one-heap-B": float64(h.alone.Heap), "one-rss-B": float64(h.alone.Resident),
		"rest-s": h.resting.Seconds(), "rest-writes/object": float64(h.writes) / others, "first-look-s": h.anew.Seconds(),
	} {
		b.ReportMetric(value, unit)
	}
}
