package runtime

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
)

// wire is an API server for events with scripted answers.
type wire struct {
	answers chan error
	created chan *eventsv1.Event
}

func (w *wire) create(_ context.Context, e *eventsv1.Event) error {
	err := <-w.answers
	w.created <- e.DeepCopy()
	return err
}

func newWire(answers ...error) *wire {
	w := &wire{answers: make(chan error, 100), created: make(chan *eventsv1.Event, 100)}
	for _, err := range answers {
		w.answers <- err
	}
	return w
}

var somebody = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "orders", UID: "u"}}

// nothingPreferred is an API server without preferred versions.
var nothingPreferred = meta.NewDefaultRESTMapper(nil)

func recording(t *testing.T, w *wire) (*Recorder, *clocktesting.FakeClock) {
	t.Helper()
	clk := clocktesting.NewFakeClock(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC))
	r := newRecorder(clientgoscheme.Scheme, nothingPreferred, "detent", clk, w.create)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r, clk
}

func TestRecorderWritesEachEventSeparately(t *testing.T) {
	w := newWire(nil, nil, nil)
	r, clk := recording(t, w)
	say := func(node string) {
		r.Eventf(somebody, nil, "Normal", "EnteredRestartingNode", "node-selected", "node %s", node)
	}
	say("0")
	say("1")
	say("0") // the same words again
	first, second := <-w.created, <-w.created
	want := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: first.Name}, EventTime: metav1.NewMicroTime(clk.Now()), Type: "Normal",
		Reason: "EnteredRestartingNode", Action: "node-selected", Note: "node 0", ReportingController: "detent", ReportingInstance: r.instance,
		Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "orders", UID: "u"},
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if second.Note != "node 1" || second.Name == first.Name {
		t.Errorf("second event %q is named %s, the first %s", second.Note, second.Name, first.Name)
	}
	clk.Step(sayAgain + time.Second)
	say("0")
	if got := <-w.created; got.Note != "node 0" {
		t.Errorf("after a while the event is %q, want the same words again", got.Note)
	}
	if len(w.created) > 0 {
		t.Errorf("repeated: %v", <-w.created)
	}
}

func TestRecorderReferencesThePreferredVersion(t *testing.T) {
	newer := schema.GroupVersion{Group: "autoscaling", Version: "v2"}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{newer})
	mapper.Add(newer.WithKind("HorizontalPodAutoscaler"), meta.RESTScopeNamespace)
	w := newWire(nil)
	r := newRecorder(clientgoscheme.Scheme, mapper, "detent", clocktesting.NewFakeClock(time.Now()), w.create)
	r.Eventf(&autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "h"}}, nil, "Normal", "R", "a", "b")
	if got := (<-r.queue).Regarding.APIVersion; got != newer.String() {
		t.Errorf("the event is about %s, want %s", got, newer)
	}
}

func TestRecorderRetriesWhileTheServerIsUnreachable(t *testing.T) {
	refused := apierrors.NewBadRequest("no such thing")
	for name, tc := range map[string]struct {
		answers []error
		want    []string
	}{
		"away for a moment":  {answers: []error{errors.New("connection refused"), apierrors.NewTooManyRequestsError("later"), nil, nil}, want: []string{"a", "a", "a", "b"}},
		"refused":            {answers: []error{refused, nil}, want: []string{"a", "b"}},
		"there already":      {answers: []error{apierrors.NewAlreadyExists(eventsv1.Resource("events"), "a"), nil}, want: []string{"a", "b"}},
		"away for very long": {answers: []error{errors.New("1"), errors.New("2"), errors.New("3"), errors.New("4"), errors.New("5"), errors.New("6"), nil}, want: []string{"a", "a", "a", "a", "a", "a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(tc.answers...)
			r, clk := recording(t, w)
			r.Eventf(somebody, nil, "Normal", "R", "a", "a")
			r.Eventf(somebody, nil, "Normal", "R", "a", "b")
			var got []string
			for len(got) < len(tc.want) {
				select {
				case e := <-w.created:
					got = append(got, e.Note)
				default:
					if clk.HasWaiters() {
						clk.Step(time.Minute)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("tries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecorderDropsEventsInsteadOfBlocking(t *testing.T) {
	w := newWire()
	r := newRecorder(clientgoscheme.Scheme, nothingPreferred, "detent", clocktesting.NewFakeClock(time.Now()), w.create)
	for i := range queuedEvents + 10 {
		r.Eventf(somebody, nil, "Normal", "R", "a", "%d", i)
	}
	if got, dropped := len(r.queue), r.dropped.Load(); got != queuedEvents || dropped != 10 {
		t.Errorf("%d events are queued and %d dropped, want %d and 10", got, dropped, queuedEvents)
	}
	nameless := newRecorder(k8sruntime.NewScheme(), nothingPreferred, "detent", clocktesting.NewFakeClock(time.Now()), w.create)
	nameless.Eventf(somebody, nil, "Normal", "R", "a", "b")
	if len(nameless.queue) > 0 {
		t.Error("an event about nothing is queued")
	}
}

func TestRecorderWritesQueuedEventsAtTheEnd(t *testing.T) {
	w := newWire(nil, nil)
	r := newRecorder(clientgoscheme.Scheme, nothingPreferred, "detent", clocktesting.NewFakeClock(time.Now()), w.create)
	r.Eventf(somebody, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, "Normal", "R", "a", "one")
	r.Eventf(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, nil, "Normal", "R", "a", "two")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Start(ctx); err != nil {
		t.Fatal(err)
	}
	first, second := <-w.created, <-w.created
	if first.Related == nil || first.Related.Name != "p" {
		t.Errorf("related %v, want pod p", first.Related)
	}
	if second.Namespace != metav1.NamespaceDefault {
		t.Errorf("an event about a node is in namespace %q", second.Namespace)
	}
}
