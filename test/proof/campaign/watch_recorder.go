package campaign

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Event is one version of one object, as an independent watch delivered it.
type Event struct {
	// Revision orders the events of all kinds: there is one etcd.
	Revision uint64
	Type     watch.EventType
	// Object is shared and must not be modified.
	Object client.Object
}

// WatchRecorder records all watch events of one namespace.
type WatchRecorder struct {
	mu      sync.Mutex
	events  []Event
	latest  map[string]client.Object
	at      time.Time
	changed chan struct{}
}

func newWatchRecorder() *WatchRecorder {
	return &WatchRecorder{latest: map[string]client.Object{}, changed: make(chan struct{})}
}

// id returns the kind and the name of an object, which are unique within its namespace.
func id(o client.Object) string { return kindOf(o) + " " + o.GetName() }

func kindOf(o client.Object) string { return reflect.TypeOf(o).Elem().Name() }

func (t *WatchRecorder) add(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, e)
	t.at = time.Now()
	if e.Type == watch.Deleted {
		delete(t.latest, id(e.Object))
	} else {
		t.latest[id(e.Object)] = e.Object
	}
	close(t.changed)
	t.changed = make(chan struct{})
}

// Latest returns the latest versions of all objects that exist, by kind and name.
func (t *WatchRecorder) Latest() map[string]client.Object {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make(map[string]client.Object, len(t.latest))
	maps.Copy(out, t.latest)
	return out
}

// Since returns the events after the revision, ordered by revision.
func (t *WatchRecorder) Since(revision uint64) []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Event
	for _, e := range t.events {
		if e.Revision > revision {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Event) int { return cmp.Compare(a.Revision, b.Revision) })
	return out
}

// newest returns the newest revision so far.
func (t *WatchRecorder) newest() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	newest := uint64(0)
	for _, e := range t.events {
		newest = max(newest, e.Revision)
	}
	return newest
}

// next returns a channel that is closed with the next event, and the time since the last one.
func (t *WatchRecorder) next() (next <-chan struct{}, quiet time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed, time.Since(t.at)
}

// watchRecorders of all namespaces that are recorded.
type watchRecorders struct {
	mu  sync.Mutex
	all map[string]*WatchRecorder
}

func (t *watchRecorders) begin(namespace string) *WatchRecorder {
	t.mu.Lock()
	defer t.mu.Unlock()
	recorder := newWatchRecorder()
	t.all[namespace] = recorder
	return recorder
}

func (t *watchRecorders) end(namespace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, namespace)
}

func (t *watchRecorders) add(kind watch.EventType, object any) {
	if gone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	o, ok := object.(client.Object)
	if !ok {
		return
	}
	t.mu.Lock()
	recorder := t.all[o.GetNamespace()]
	t.mu.Unlock()
	if recorder == nil {
		return
	}
	revision, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(fmt.Errorf("the resourceVersion of %s is no number: %w", id(o), err)) // it is one with etcd
	}
	recorder.add(Event{Revision: revision, Type: kind, Object: o})
}

var _ toolscache.ResourceEventHandler = &watchRecorders{}

// OnAdd implements ResourceEventHandler.
func (t *watchRecorders) OnAdd(object any, _ bool) { t.add(watch.Added, object) }

// OnUpdate implements ResourceEventHandler.
func (t *watchRecorders) OnUpdate(_, object any) { t.add(watch.Modified, object) }

// OnDelete implements ResourceEventHandler.
func (t *watchRecorders) OnDelete(object any) { t.add(watch.Deleted, object) }
