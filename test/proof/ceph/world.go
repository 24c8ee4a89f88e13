package ceph

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/controllers/ceph/render"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	"github.com/detent-dev/detent/runtime/external"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/simulator/ceph/pods"
)

// Faults of this world.
const (
	PodLost    explore.Fault = "pod lost"
	Unhealthy  explore.Fault = "unhealthy"
	Denied     explore.Fault = "Ceph denies"
	Silence    explore.Fault = "Ceph silent"
	ReplyGone  explore.Fault = "answer lost"
	NotCarried explore.Fault = "command lost"
)

// Commands that get no answer.
const (
	carriedOut = "carried out"
	dropped    = "dropped"
)

// World is a Ceph cluster and what runs in pods.
type World struct {
	ceph *simulated.Shared
	// begun is when the cluster was launched.
	begun time.Time
	// sender is what the operator's process remembers of the commands that it sent, and answer the answer to the last one.
	sender *connection.Sender
	answer external.Answer
	// forgets means that the process loses what it remembers before each reconcile.
	forgets bool
	// alone are the types of daemons whose outage is accepted.
	alone []cephclient.Type
	// since is when each disturbance that ends by itself began.
	since map[explore.Fault]time.Time
	// next is what happens to the next command, empty for nothing special.
	next string
	// harm is the first damage that was done. Every state is checked for it.
	harm string
}

// Clone implements explore.World.
func (w *World) Clone() explore.World {
	out := *w
	w.ceph.Do(func(c *simulated.Cluster) { out.ceph = simulated.NewShared(c.Clone()) })
	out.sender, out.since = w.sender.Clone(), maps.Clone(w.since)
	return &out
}

// AppendCanonical implements explore.World.
func (w *World) AppendCanonical(dst []byte, at *explore.Scenario) []byte {
	w.advance(at.Now())
	w.ceph.Do(func(c *simulated.Cluster) { dst = c.AppendCanonical(dst) })
	open, failed, done := w.sender.Remembers(objectUID, at.Now())
	dst = fmt.Appendf(dst, "%s %v %s %v %s %s", open, failed, w.answer.State, done, w.next, w.harm)
	for _, fault := range slices.Sorted(maps.Keys(w.since)) {
		dst = append(append(dst, fault...), at.Age(w.since[fault]))
	}
	return dst
}

// objectUID is that of the explored Cluster.
var objectUID = explore.UID(1)

// of returns the world of the present state at the present time.
func of(at *explore.Scenario) *World {
	w, ok := at.World().(*World)
	if !ok {
		panic("a state without a Ceph cluster")
	}
	w.advance(at.Now())
	return w
}

func (w *World) advance(to time.Time) {
	w.ceph.Do(func(c *simulated.Cluster) { c.Advance(to.Sub(w.begun).Milliseconds()) })
}

// hurt records the first damage.
func (w *World) hurt(format string, args ...any) {
	if w.harm == "" {
		w.harm = fmt.Sprintf(format, args...)
	}
}

// lasts is how long a disturbance lasts that ends by itself. Meanwhile the operator polls.
const lasts = 15 * time.Second

// boom is a health code of no class.
var boom = cephclient.Check{Code: "TEST_BOOM", Severity: cephclient.HealthErr, Summary: "boom"}

// busy is Ceph's answer to whether a daemon may be stopped.
func busy() []simulated.Fault {
	no := cephclient.Result{Code: 16, Stderr: []byte("Error EBUSY: not now\n")}
	return []simulated.Fault{{Command: "osd ok-to-stop", Result: no}, {Command: "mon ok-to-stop", Result: no}}
}

// disturb begins or ends a disturbance.
func (w *World) disturb(fault explore.Fault, begins bool) {
	w.ceph.Do(func(c *simulated.Cluster) {
		switch fault { //nolint:exhaustive // the others do not end by themselves
		case Unhealthy:
			c.Clear(boom.Code)
			if begins {
				c.Raise(boom)
			}
		case Denied:
			if c.Faults = nil; begins {
				c.Faults = busy()
			}
		case Silence:
			c.Unreachable = begins
		}
	})
}

// Next implements explore.World.
func (w *World) Next(at *explore.Scenario) (out []explore.Step) {
	w.advance(at.Now())
	add := func(fault explore.Fault, do func(at *explore.Scenario, w *World), name string, args ...any) {
		out = append(out, explore.Step{Name: fmt.Sprintf(name, args...), Fault: fault, Do: func(at *explore.Scenario) { do(at, of(at)) }})
	}
	for _, fault := range []explore.Fault{Unhealthy, Denied, Silence} {
		since, lasting := w.since[fault]
		switch {
		case !lasting:
			add(fault, func(at *explore.Scenario, w *World) {
				w.since = put(w.since, fault, at.Now())
				w.disturb(fault, true)
			}, "%s begins", fault)
		case at.Now().Sub(since) >= lasts:
			add("", func(_ *explore.Scenario, w *World) {
				delete(w.since, fault)
				w.disturb(fault, false)
			}, "%s ends", fault)
		}
	}
	if w.next == "" {
		add(ReplyGone, func(_ *explore.Scenario, w *World) { w.next = carriedOut }, "the answer to the next command will be lost")
		add(NotCarried, func(_ *explore.Scenario, w *World) { w.next = dropped }, "the next command will be lost")
	}
	if due(at) {
		add("", run, "Kubernetes goes on")
	}
	last := map[cephclient.Type]client.Object{} // one of each type, because the others are equal to it
	at.Objects("Pod", func(o client.Object) {
		if d, ok := render.DaemonOf(o.GetLabels()); ok {
			last[d.Type] = o
		}
	})
	for _, t := range cephclient.Types() {
		if o := last[t]; o != nil {
			add(PodLost, func(at *explore.Scenario, _ *World) { at.Remove(o) }, "the pod %s is lost", o.GetName())
		}
	}
	return out
}

func put[K comparable, V any](m map[K]V, key K, value V) map[K]V {
	if m == nil {
		m = map[K]V{}
	}
	m[key] = value
	return m
}

// counting counts writes.
type counting struct {
	client.Client
	writes int
}

func (c *counting) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	c.writes++
	return c.Client.Create(ctx, o, opts...)
}

func (c *counting) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	c.writes++
	return c.Client.Delete(ctx, o, opts...)
}

func (c *counting) Status() client.SubResourceWriter {
	c.writes++
	return c.Client.Status()
}

// due reports whether controllers and kubelets have anything to do.
func due(at *explore.Scenario) (yes bool) {
	at.Try(func() {
		w := of(at)
		if w.reap(at) {
			yes = true
			return
		}
		api := &counting{Client: at.Client()}
		w.step(at, api)
		yes = api.writes > 0
	})
	return yes
}

// run lets controllers and kubelets do what is due.
func run(at *explore.Scenario, w *World) {
	before := map[cephclient.Daemon]int{}
	w.ceph.Do(func(c *simulated.Cluster) {
		for i := range c.Daemons {
			before[c.Daemons[i].Name] = c.Daemons[i].Version.Major
		}
	})
	w.reap(at)
	w.step(at, at.Client())
	w.ceph.Do(func(c *simulated.Cluster) {
		for i := range c.Daemons {
			d := &c.Daemons[i]
			if d.Version.Major < before[d.Name] || d.Spoiled {
				w.hurt("%s is started on the older release %d", d.Name, d.Version.Major)
			}
		}
	})
}

func (w *World) step(at *explore.Scenario, api client.Client) {
	run := &pods.World{Client: api, Namespace: namespace, Name: name, Ceph: w.ceph, Images: images(), Alternate: true, Replacing: w.takesAway}
	if err := run.Step(context.Background(), at.Now()); err != nil {
		panic(err)
	}
}

// reap ends the daemons whose pods are gone, and reports whether there were any.
func (w *World) reap(at *explore.Scenario) (found bool) {
	exist := map[string]bool{}
	at.Objects("Pod", func(o client.Object) {
		if p, ok := o.(*corev1.Pod); ok {
			exist[p.Name] = true
		}
	})
	w.ceph.Do(func(c *simulated.Cluster) {
		for _, d := range slices.Clone(c.Daemons) {
			if d.Running && !exist[d.Pod] {
				found = true
				c.Stop(d.Name)
			}
		}
	})
	return found
}

// system is Ceph as the operator reaches it.
type system struct{ at *explore.Scenario }

var _ connection.System = system{}

// Read answers every query now.
func (s system) Read(ctx context.Context, to connection.Endpoint, queries []connection.Query, live bool, now time.Time) []connection.Reading {
	return of(s.at).direct().Read(ctx, to, queries, live, now)
}

func (w *World) direct() *connection.Direct {
	return &connection.Direct{Protocol: connection.NewProtocol(func(connection.Endpoint) (cephclient.Runner, func(), error) {
		return w.ceph, func() {}, nil
	})}
}

// Write carries out a command, unless it is lost.
func (s system) Write(ctx context.Context, to connection.Endpoint, id machines.RequestID, c connection.Command) {
	w := of(s.at)
	next := w.next
	if w.next = ""; next == dropped {
		w.answer = external.Answer{RequestID: id, State: external.Unknown, Text: "the command took longer than 10s"}
		return
	}
	w.judge(c)
	d := w.direct()
	d.Write(ctx, to, id, c)
	if w.answer = d.Answer(to, id); next == carriedOut {
		w.answer = external.Answer{RequestID: id, State: external.Unknown, Text: "the command took longer than 10s"}
	}
}

// Answer returns the answer to the last command if it has the request ID.
func (s system) Answer(_ connection.Endpoint, id machines.RequestID) external.Answer {
	if w := of(s.at); w.answer.RequestID == id {
		return w.answer
	}
	return external.Answer{}
}

// Failure returns none: the kind does not read it.
func (system) Failure(connection.Endpoint, string) external.Answer { return external.Answer{} }

// InFlight returns none: every command has an outcome when Write returns.
func (system) InFlight(connection.Endpoint, string) external.InFlight { return external.InFlight{} }

// Drop does nothing: no connection exists.
func (system) Drop(types.UID) {}
