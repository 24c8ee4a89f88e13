package mirrormaker2_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	connectclient "github.com/detent-dev/detent/clients/connect"
	"github.com/detent-dev/detent/clients/connect/rest"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/mirrormaker2"
	"github.com/detent-dev/detent/controllers/mirrormaker2/children"
	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/observation"
	"github.com/detent-dev/detent/controllers/podset"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/connect"
	"github.com/detent-dev/detent/simulator/store"
)

// hindrance is what happens to the reads from Connect and from the API server, each numbered from one.
type hindrance struct {
	// slow is a read from Connect that takes nearly as long as one may, refused one that fails, and silent one without an answer.
	slow, refused, silent int
	// unwoken is an answer of Connect that does not requeue the resource.
	unwoken int
	// failed is a list of the API server that fails.
	failed int
	// frozen is the pod of a worker that does not answer, if it is asked itself. Optional.
	frozen string
	// instead answers the reads that it returns true for. Optional.
	instead func(r *http.Request) (*http.Response, error, bool)
}

// polled is a rig as a manager runs it: what Connect answers is polled, and a reconcile follows a requeue, a write or an answer only.
type polled struct {
	*rig
	hindrance

	system *connection.Polled
	// mu guards the simulated workers and what follows.
	mu             sync.Mutex
	reads, answers int
	lists          int
	// due is when each of the reconcilers runs next.
	due []time.Time
}

// newPolled returns a rig in a bubble of synctest.
func newPolled(t *testing.T, h hindrance) *polled {
	t.Helper()
	time.Sleep(time.Until(noon))
	p := &polled{rig: newRig(t), hindrance: h, due: []time.Time{noon, noon}}
	p.server.Written = p.noted
	t.Cleanup(func() { p.system.Close() })
	p.restart()
	return p
}

// restart starts an operator after the previous one has ended: what that had read is lost.
func (p *polled) restart() {
	p.t.Helper()
	if p.system != nil {
		p.system.Close()
	}
	p.enqueue()
	p.system = connection.NewPolled(p.dial, func(types.NamespacedName) {
		p.mu.Lock()
		p.answers++
		lost := p.answers == p.unwoken
		p.mu.Unlock()
		if !lost {
			p.enqueue()
		}
	}, clock.RealClock{}, 1)
	table, err := versions.Embedded()
	p.must(err)
	kept := lifecycle.NewChildren(failing{p.client, p}, p.client, clock.RealClock{})
	kind, err := mirrormaker2.NewKind(&observation.Collector{Table: table, System: p.system, Live: p.client, Hosts: p.client}, &children.Reconciler{Client: p.client, Live: p.client})
	p.must(err)
	p.run = []reconcile.Reconciler{
		lifecycle.New(kind, lifecycle.Options{Client: p.client, Live: p.client, Children: kept}),
		&podset.Reconciler{Client: p.client, Live: p.client, Children: kept, Clock: clock.RealClock{}, Disrupt: func(context.Context, *corev1.Pod, func() error) error { return lifecycle.ErrWait }},
	}
}

// noted notes a write to the API server, which requeues as a watch does.
func (p *polled) noted(w store.Write) {
	p.apiWrites = append(p.apiWrites, fmt.Sprintf("%s %T %s", w.Verb, w.Object, w.Object.GetName()))
	p.enqueue()
}

func (p *polled) enqueue() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.due {
		p.due[i] = time.Time{}
	}
}

// dial returns clients of the simulated workers whose reads are hindered.
func (p *polled) dial(connection.Endpoint) (*connection.Workers, func(), error) {
	made := func(worker func() (int, bool)) (connectclient.Client, error) {
		return rest.New(rest.Options{Address: "connect:8083", ReadTimeout: connection.ReadTimeout, MaxBytes: 1 << 20, Transport: &hindered{noting{connect.Transport{Cluster: p.connect, Worker: worker}, p.rig}, p}})
	}
	service, err := made(p.connect.Any)
	return &connection.Workers{Service: service, Worker: func(pod string) (connectclient.Reader, func(), error) {
		if pod == p.frozen {
			one, err := rest.New(rest.Options{Address: "connect:8083", ReadTimeout: connection.ReadTimeout, Transport: silent{}})
			return one, func() {}, err
		}
		one, err := made(p.connect.One(int(pod[len(pod)-1] - '0')))
		return one, func() {}, err
	}}, func() {}, err
}

// silent is a transport without answers.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// hindered is a transport whose reads are hindered.
type hindered struct {
	noting
	rig *polled
}

func (h *hindered) RoundTrip(r *http.Request) (*http.Response, error) {
	p := h.rig
	if r.Method == http.MethodGet {
		p.mu.Lock()
		p.reads++
		n := p.reads
		p.mu.Unlock()
		switch n {
		case p.slow:
			if err := takes(r, 7*time.Second); err != nil {
				return nil, err
			}
		case p.refused:
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
		case p.silent:
			<-r.Context().Done()
			return nil, io.ErrUnexpectedEOF
		}
		if p.instead != nil {
			if response, err, answers := p.instead(r); answers {
				return response, err
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return h.noting.RoundTrip(r)
}

// takes lets time pass, at most until the request ends.
func takes(r *http.Request, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

// failing is a client one of whose lists fails.
type failing struct {
	client.Client
	rig *polled
}

func (f failing) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	f.rig.lists++
	if f.rig.lists == f.rig.failed {
		return apierrors.NewTimeoutError("the list is not available", 1)
	}
	return f.Client.List(ctx, list, opts...)
}

// isDue reports whether a reconciler runs now, and takes it from the queue.
func (p *polled) isDue(i int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.due[i].After(time.Now()) {
		return false
	}
	p.due[i] = time.Now().Add(time.Hour)
	return true
}

func (p *polled) requeue(i int, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at.Before(p.due[i]) {
		p.due[i] = at
	}
}

// second runs what is due, and lets a second pass.
func (p *polled) second() {
	p.t.Helper()
	for i, name := range []string{"my-mm2", "my-mm2-mirrormaker2"} {
		for p.isDue(i) {
			result, err := p.run[i].Reconcile(context.Background(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: name}})
			after := result.RequeueAfter
			if err != nil {
				after = time.Second // the back-off of the queue
			}
			if after > 0 {
				p.requeue(i, time.Now().Add(after))
			}
		}
	}
	synctest.Wait() // reads of the workers that the kubelet ends are over
	p.kubelet()
	time.Sleep(time.Second)
	synctest.Wait()
	p.server.SetTime(time.Now())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connect.Tick(time.Since(noon).Milliseconds())
}

// settles fails the test unless the resource settles within a number of seconds.
func (p *polled) settles(what string, within int) {
	p.t.Helper()
	for range within {
		p.second()
		if p.settled() && p.unannotated() {
			return
		}
	}
	m := p.get()
	p.t.Fatalf("%s: not settled after %d s: generation %d of %d, annotations %v, %+v", what, within, m.Status.ObservedGeneration, m.Generation, m.Annotations, m.Status.Status)
}

// TestKindSettlesWhereReadsAreHindered checks that every generation is observed, whichever read of Connect or of the API server is slow,
// fails or is lost: at rest each guard is known, or is evaluated again.
func TestKindSettlesWhereReadsAreHindered(t *testing.T) {
	for name, hinder := range map[string]func(n int) hindrance{
		"slow":         func(n int) hindrance { return hindrance{slow: n} },
		"refused":      func(n int) hindrance { return hindrance{refused: n} },
		"silent":       func(n int) hindrance { return hindrance{silent: n} },
		"unwoken":      func(n int) hindrance { return hindrance{unwoken: n} },
		"API server":   func(n int) hindrance { return hindrance{failed: n} },
		"not hindered": func(int) hindrance { return hindrance{} },
	} {
		for n := 1; n <= 7; n++ {
			if name == "not hindered" && n > 1 {
				break
			}
			t.Run(fmt.Sprintf("%s, read %d", name, n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPolled(t, hinder(n))
					p.settles("created", 60)
					p.reads, p.answers, p.lists = 0, 0, 0
					p.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].HeartbeatConnector.ListOffsets = nil })
					p.settles("changed", 60)
					p.reads, p.answers, p.lists = 0, 0, 0
					p.annotate("list", source)
					p.settles("listed", 90)
					p.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].CheckpointConnector.ListOffsets = nil })
					p.settles("changed after the list", 30)
					p.reads, p.answers, p.lists = 0, 0, 0
					p.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].SourceConnector.ListOffsets = nil })
					p.restart()
					p.settles("changed before a restart", 60)
				})
			})
		}
	}
}

// TestKindAltersWhileAFencedWorkerIsFrozen checks that a worker that Connect fences delays neither the records of a request nor the change,
// although each live observation waits for its answer in vain. The change is verified once the worker continues.
func TestKindAltersWhileAFencedWorkerIsFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled(t, hindrance{})
		p.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
			m.Spec.Clusters[1].Config = map[string]apiextensionsv1.JSON{"exactly.once.source.support": {Raw: []byte(`"enabled"`)}}
		})
		p.must(p.server.Put(body(altered)))
		p.settles("created", 60)
		p.frozen = "my-mm2-mirrormaker2-1"
		p.edit(state(kafkav1beta2.ConnectorStopped))
		p.annotate("alter", source)
		for range 300 {
			p.second()
		}
		if got := p.changes(); len(got) != 1 {
			t.Errorf("%v were sent while a worker is frozen, want one change: %+v", got, p.get().Status.Status)
		}
		p.frozen = ""
		p.settles("altered", 120)
	})
}

// TestKindListsOffsetsFromAfterTheRequest checks that a list writes no answer that was read for the list before.
func TestKindListsOffsetsFromAfterTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled(t, hindrance{})
		p.settles("created", 60)
		p.annotate("list", source)
		p.settles("listed", 60)
		p.mu.Lock()
		p.connect.Produce("orders", 4)
		p.mu.Unlock()
		for range 3 { // workers commit offsets each second
			p.second()
		}
		p.annotate("list", source)
		p.settles("listed again", 60)
		if got := p.configMap("my-mm2-offsets").Data[connectclient.EntryName(source)]; strings.Count(got, `"offset": 3`) != 2 {
			t.Errorf("listed %s, want offset 3 of both partitions", got)
		}
	})
}
