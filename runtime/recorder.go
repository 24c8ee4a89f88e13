package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	utilwait "k8s.io/apimachinery/pkg/util/wait"
	typedeventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	eventnames "k8s.io/client-go/tools/record/util"
	"k8s.io/client-go/tools/reference"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/detent-dev/detent/machines"
)

// Recorder writes each event as a separate object, once and immediately. The recorder of client-go folds events that differ
// only in their note into a series: the event of a roll's second node would be lost, and the series is written again minutes
// later, when the object has long been at rest. A Recorder is a Runnable of its manager, is safe for concurrent use and never
// blocks.
type Recorder struct {
	scheme     *k8sruntime.Scheme
	mapper     meta.RESTMapper
	controller string
	instance   string
	clock      clock.Clock
	create     func(context.Context, *eventsv1.Event) error
	queue      chan *eventsv1.Event
	said       *utilcache.LRUExpireCache
	// preferred are the versions that the API server prefers, by group and kind.
	preferred sync.Map
	dropped   atomic.Int64

	mu   sync.Mutex
	last time.Time
}

var _ events.EventRecorder = &Recorder{}

const (
	// queuedEvents is the capacity of the queue while the API server is slow or unreachable, about 10 MB. Further events are
	// dropped; the log shows when that starts and when it ends.
	queuedEvents = 10000
	// sayAgain is the time for which an event with the same words about the same object is not repeated: a rejected write that
	// is retried every minute is reported once.
	sayAgain = 10 * time.Minute
	// remembered is the number of events that are compared.
	remembered = 4096
)

// NewRecorder returns a recorder that the manager runs. controller is the reporting controller, for example "detent".
func NewRecorder(mgr ctrl.Manager, controller string) (*Recorder, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.ContentType, config.AcceptContentTypes = k8sruntime.ContentTypeProtobuf, k8sruntime.ContentTypeProtobuf // costs both sides less than JSON
	web, err := typedeventsv1.NewForConfigAndClient(config, mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("making the recorder of events: %w", err)
	}
	r := newRecorder(mgr.GetScheme(), mgr.GetRESTMapper(), controller, clock.RealClock{}, func(ctx context.Context, e *eventsv1.Event) error {
		_, err := web.Events(e.Namespace).Create(ctx, e, metav1.CreateOptions{})
		return err
	})
	return r, mgr.Add(r)
}

func newRecorder(
	scheme *k8sruntime.Scheme, mapper meta.RESTMapper, controller string, clk clock.Clock, create func(context.Context, *eventsv1.Event) error,
) *Recorder {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &Recorder{
		scheme: scheme, mapper: mapper, controller: controller, instance: machines.Cut(controller+"-"+host, maxInstance), clock: clk, create: create,
		queue: make(chan *eventsv1.Event, queuedEvents), said: utilcache.NewLRUExpireCacheWithClock(remembered, clk),
	}
}

// maxInstance is the limit of the API for a reporting instance, in bytes.
const maxInstance = 128

// Eventf implements events.EventRecorder. An event of an object whose kind is not in the scheme cannot be written: it is
// dropped and the log names it.
func (r *Recorder) Eventf(regarding, related k8sruntime.Object, eventType, reason, action, note string, args ...any) {
	event, err := r.compose(regarding, related)
	if err != nil {
		log.Log.Error(err, "dropping an event", "reason", reason)
		return
	}
	event.Type, event.Reason, event.Action = eventType, reason, action
	event.Note = machines.Cut(fmt.Sprintf(note, args...), maxNote)
	if r.saidBefore(event) {
		return
	}
	select {
	case r.queue <- event:
	default:
		if r.dropped.Add(1) == 1 {
			log.Log.Info("dropping events: too many wait for the API server", "waiting", queuedEvents)
		}
	}
}

func (r *Recorder) compose(regarding, related k8sruntime.Object) (*eventsv1.Event, error) {
	about, err := r.reference(regarding)
	if err != nil {
		return nil, fmt.Errorf("naming the object of an event: %w", err)
	}
	at := r.moment()
	event := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: about.Namespace, Name: eventnames.GenerateEventName(about.Name, at.UnixNano())},
		EventTime:  metav1.NewMicroTime(at), ReportingController: r.controller, ReportingInstance: r.instance, Regarding: *about,
	}
	if event.Namespace == "" {
		event.Namespace = metav1.NamespaceDefault
	}
	if related == nil {
		return event, nil
	}
	if event.Related, err = r.reference(related); err != nil {
		return nil, fmt.Errorf("naming the related object of an event: %w", err)
	}
	return event, nil
}

// reference returns a reference in the version that the API server prefers, because `kubectl events --for` compares the
// version.
func (r *Recorder) reference(object k8sruntime.Object) (*corev1.ObjectReference, error) {
	ref, err := reference.GetReference(r.scheme, object)
	if err != nil {
		return nil, err
	}
	kind := ref.GroupVersionKind().GroupKind()
	version, found := r.preferred.Load(kind)
	if !found {
		preferred, err := r.mapper.RESTMapping(kind)
		if err != nil {
			return ref, nil //nolint:nilerr // it keeps its own version
		}
		version, _ = r.preferred.LoadOrStore(kind, preferred.GroupVersionKind.GroupVersion().String())
	}
	ref.APIVersion, _ = version.(string)
	return ref, nil
}

// moment returns the time, at least a nanosecond after the previous result, so that event names are unique.
func (r *Recorder) moment() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.clock.Now()
	if !at.After(r.last) {
		at = r.last.Add(time.Nanosecond)
	}
	r.last = at
	return at
}

// words identify an event for the detection of repetitions.
type words struct {
	regarding            corev1.ObjectReference
	kind, reason, action string
	note                 string
}

func (r *Recorder) saidBefore(e *eventsv1.Event) bool {
	w := words{regarding: e.Regarding, kind: e.Type, reason: e.Reason, action: e.Action, note: e.Note}
	w.regarding.ResourceVersion = ""
	if _, again := r.said.Get(w); again {
		return true
	}
	r.said.Add(w, true, sayAgain)
	return false
}

// NeedLeaderElection implements manager.LeaderElectionRunnable. A replica that waits for the lease sends no events, and the
// events of the leader must not wait for the lease.
func (r *Recorder) NeedLeaderElection() bool { return false }

// Start writes events until ctx is done. It then writes the queued events until the first failure or the end of the timeout.
func (r *Recorder) Start(ctx context.Context) error {
	for {
		select {
		case event := <-r.queue:
			if err := r.write(ctx, event); err != nil && ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "dropping an event", "reason", event.Reason, "regarding", event.Regarding.Name)
			}
			if len(r.queue) == 0 && r.dropped.Load() > 0 {
				log.FromContext(ctx).Info("events were dropped while too many waited for the API server", "dropped", r.dropped.Swap(0))
			}
		case <-ctx.Done():
			r.flush(context.WithoutCancel(ctx))
			return nil
		}
	}
}

// lastWords is the time limit for the queued events at the end of the process.
const lastWords = time.Second

func (r *Recorder) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	for {
		select {
		case event := <-r.queue:
			if r.create(ctx, event) != nil {
				return
			}
		default:
			return
		}
	}
}

// write writes an event. Transient errors are retried for about half a minute.
func (r *Recorder) write(ctx context.Context, event *eventsv1.Event) error {
	backoff := utilwait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.25, Steps: 5}
	for {
		err := r.create(ctx, event)
		if err == nil || apierrors.IsAlreadyExists(err) {
			return nil // the response to an earlier attempt may have been lost
		}
		if !passing(err) || backoff.Steps == 0 {
			return fmt.Errorf("writing an event: %w", err)
		}
		select {
		case <-r.clock.After(backoff.Step()):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// passing reports whether an error is transient.
func passing(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err)
}
