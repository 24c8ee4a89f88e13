package connection

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/runtime/external"
)

// gatedSide answers when it is let.
type gatedSide struct {
	kafkaclient.Client
	mu     sync.Mutex
	err    error
	leader int32
	gate   chan struct{}
}

func (g *gatedSide) Quorum(ctx context.Context) (kafkaclient.Quorum, error) {
	select {
	case <-g.gate:
	case <-ctx.Done():
		return kafkaclient.Quorum{}, ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return kafkaclient.Quorum{Leader: g.leader}, g.err
}

func (g *gatedSide) UnregisterBroker(context.Context, int32) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

func (g *gatedSide) set(leader int32, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leader, g.err = leader, err
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

type polledRig struct {
	*Polled
	side *gatedSide
	// connect creates the client of the cluster.
	connect func(Endpoint) (kafkaclient.Client, func(), error)
	clock   *clocktesting.FakeClock
	woken   chan types.NamespacedName
}

func newPolled(t *testing.T) *polledRig {
	t.Helper()
	r := &polledRig{side: &gatedSide{gate: make(chan struct{})}, clock: clocktesting.NewFakeClock(noon), woken: make(chan types.NamespacedName, 100)}
	r.connect = func(Endpoint) (kafkaclient.Client, func(), error) { return r.side, func() {}, nil }
	r.Polled = &Polled{
		Protocol: NewProtocol(func(e Endpoint) (kafkaclient.Client, func(), error) { return r.connect(e) }),
		Wake:     func(n types.NamespacedName) { r.woken <- n }, Clock: r.clock,
	}
	t.Cleanup(r.Close)
	return r
}

var here = Endpoint{Name: types.NamespacedName{Namespace: "ns", Name: "c"}, UID: "u", Bootstrap: []string{"c:9091"}}

func (r *polledRig) quorum(t *testing.T, live bool) Reading {
	t.Helper()
	return r.Read(t.Context(), here, []Query{{Question: kafkaclient.Question{About: kafkaclient.AboutQuorum}, MaxAge: 30 * time.Second}}, live, r.clock.Now())[0]
}

func TestPolledReadings(t *testing.T) {
	r := newPolled(t)
	if got := r.quorum(t, false); !got.Pending() {
		t.Fatalf("first reading %+v, want pending", got)
	}
	r.side.set(3, nil)
	r.side.gate <- struct{}{}
	if name := <-r.woken; name != here.Name {
		t.Errorf("woken for %s", name)
	}
	if got := r.quorum(t, false); got.Answer.Quorum == nil || got.Answer.Quorum.Leader != 3 || !got.At.Equal(noon) {
		t.Fatalf("reading %+v, want leader 3", got)
	}
	// Past its age it is pending while a new answer is under way, and an error if that fails.
	r.clock.Step(31 * time.Second)
	if got := r.quorum(t, false); !got.Pending() {
		t.Errorf("reading past its age: %+v, want pending", got)
	}
	r.side.set(0, errors.New("no route to host"))
	r.side.gate <- struct{}{}
	<-r.woken
	if got := r.quorum(t, false); got.Err == nil || got.Pending() {
		t.Errorf("reading %+v, want an error", got)
	}
}

// A failed question is repeated soon, even if no state polls: at rest nothing else would repeat it.
func TestPolledRepeatsFailedQuestions(t *testing.T) {
	r := newPolled(t)
	r.side.set(0, errors.New("no route to host"))
	r.quorum(t, false)
	r.side.gate <- struct{}{}
	<-r.woken
	if got := r.quorum(t, false); got.Err == nil {
		t.Fatalf("reading %+v, want an error", got)
	}
	r.side.set(3, nil)
	r.clock.Step(10 * time.Second)
	<-r.woken // by its alarm
	r.quorum(t, false)
	r.side.gate <- struct{}{}
	<-r.woken // by the answer
	if got := r.quorum(t, false); got.Answer.Quorum == nil || got.Answer.Quorum.Leader != 3 {
		t.Errorf("reading %+v, want leader 3", got)
	}
}

// The last answer remains valid while it is renewed early: otherwise a status would show the gap and revert it.
func TestPolledRenewsWithoutAGap(t *testing.T) {
	r := newPolled(t)
	read := func() Reading {
		q := Query{Question: kafkaclient.Question{About: kafkaclient.AboutQuorum}, MaxAge: 10 * time.Minute, Renew: time.Second}
		return r.Read(t.Context(), here, []Query{q}, false, r.clock.Now())[0]
	}
	r.side.set(3, nil)
	read()
	r.side.gate <- struct{}{}
	<-r.woken
	r.clock.Step(2 * time.Second)
	if got := read(); got.Answer.Quorum == nil || got.Answer.Quorum.Leader != 3 {
		t.Errorf("reading %+v while it is asked for anew, want leader 3", got)
	}
	r.side.set(4, nil)
	r.side.gate <- struct{}{} // it was asked for
	<-r.woken
	if got := read(); got.Answer.Quorum == nil || got.Answer.Quorum.Leader != 4 {
		t.Errorf("reading %+v, want leader 4", got)
	}
}

// A cluster that cannot even be connected to is tried again too.
func TestPolledReconnects(t *testing.T) {
	r := newPolled(t)
	connect := r.connect
	r.connect = func(Endpoint) (kafkaclient.Client, func(), error) { return nil, nil, errors.New("no such name") }
	if got := r.quorum(t, false); got.Err == nil {
		t.Fatalf("reading %+v, want an error", got)
	}
	r.connect = connect
	r.clock.Step(10 * time.Second)
	<-r.woken
	if got := r.quorum(t, false); !got.Pending() {
		t.Errorf("reading %+v, want pending", got)
	}
	r.side.gate <- struct{}{}
	<-r.woken
}

// Live questions are sent in the reconcile, independently of earlier answers, and end with its context.
func TestPolledLiveReadings(t *testing.T) {
	r := newPolled(t)
	r.side.set(7, nil)
	go func() { r.side.gate <- struct{}{} }()
	if got := r.quorum(t, true); got.Answer.Quorum == nil || got.Answer.Quorum.Leader != 7 {
		t.Errorf("reading %+v, want leader 7", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := r.Read(ctx, here, []Query{{Question: kafkaclient.Question{About: kafkaclient.AboutQuorum}}}, true, noon)
	if got[0].Err == nil {
		t.Errorf("reading %+v, want an error", got[0])
	}
}

func TestPolledCommands(t *testing.T) {
	requestID := machines.RequestID{UID: "u", Lifecycle: "scale-down", Attempt: "a", State: "Unregistering", Sequence: 1}
	id := int32(7)
	for name, tc := range map[string]struct {
		err  error
		want external.Answer
	}{
		"done": {want: external.Answer{RequestID: requestID, State: external.Done}},
		"refused": {err: &kafkaclient.Refused{Code: 102, Name: "BROKER_ID_NOT_REGISTERED", Message: "Broker ID 7 is not currently registered"},
			want: external.Answer{RequestID: requestID, State: external.Refused, Code: 102, Name: "BROKER_ID_NOT_REGISTERED", Text: "Broker ID 7 is not currently registered"}},
		"never left": {err: &kafkaclient.Unreadable{What: "unregistering", Err: errors.New("no route")},
			want: external.Answer{RequestID: requestID, State: external.Failed, Text: "unregistering: no route"}},
		"unknown": {err: &kafkaclient.OutcomeUnknown{What: "unregistering", Err: errors.New("cut")},
			want: external.Answer{RequestID: requestID, State: external.Unknown, Text: "unregistering: outcome unknown: cut"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newPolled(t)
			if got := r.Answer(here, requestID); got.State != external.None {
				t.Errorf("answer before anything was asked: %+v", got)
			}
			r.side.set(0, tc.err)
			r.Write(t.Context(), here, requestID, kafkaclient.Command{Unregister: &id})
			<-r.woken
			if diff := cmp.Diff(tc.want, r.Answer(here, requestID)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			other := requestID
			other.Lifecycle = "version"
			if got := r.Answer(here, other); got.State != external.None {
				t.Errorf("another lifecycle has the answer %+v", got)
			}
		})
	}
}

func TestPolledWithoutAClient(t *testing.T) {
	r := newPolled(t)
	r.connect = func(Endpoint) (kafkaclient.Client, func(), error) { return nil, nil, errors.New("no such name") }
	if got := r.quorum(t, false); got.Err == nil {
		t.Errorf("reading %+v", got)
	}
	requestID := machines.RequestID{Lifecycle: "version"}
	r.Write(t.Context(), here, requestID, kafkaclient.Command{})
	if got := r.Answer(here, requestID); got.State != external.None {
		t.Errorf("answer %+v", got)
	}
}

// A cluster that grows keeps its client, which finds the new node.
func TestPolledClientUsesTheNewestNodes(t *testing.T) {
	var connected []Endpoint
	p := &Polled{
		Protocol: NewProtocol(func(e Endpoint) (kafkaclient.Client, func(), error) {
			connected = append(connected, e)
			return &gatedSide{}, func() {}, nil
		}),
		Wake: func(types.NamespacedName) {}, Clock: clocktesting.NewFakeClock(noon),
	}
	t.Cleanup(p.Close)
	grown := here
	grown.Nodes = map[int32]kafkaclient.NodeAddress{7: {Broker: "pod-7:9091"}}
	for _, e := range []Endpoint{here, grown} {
		p.Read(t.Context(), e, nil, false, noon)
	}
	if len(connected) != 1 {
		t.Fatalf("connected %d times", len(connected))
	}
	if diff := cmp.Diff(grown.Nodes, connected[0].NewestNodes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
