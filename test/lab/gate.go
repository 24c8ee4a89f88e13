package lab

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Gate is between the API server and the caches of one operator, and can make them lag: by type, it holds back watch
// events, or begins with what was true at an earlier revision. What was held back comes in order when the gate opens, so that
// a cache only ever lags; it never misses anything.
type Gate struct {
	mu      sync.Mutex
	closed  map[string]chan struct{}
	startAt map[string]string
	all     *past
	script  *Script
}

// past is where all caches of an operator begin.
type past struct {
	revision string
	over     chan struct{}
	begun    map[string]bool
}

// NewGate makes an open gate.
func NewGate() *Gate {
	return &Gate{closed: map[string]chan struct{}{}, startAt: map[string]string{}}
}

func typeName(o any) string { return fmt.Sprintf("%T", o) }

// Freeze holds back all events about objects of these types from now on.
func (g *Gate) Freeze(types ...client.Object) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range types {
		if g.closed[typeName(t)] == nil {
			g.closed[typeName(t)] = make(chan struct{})
		}
	}
}

// FreezeAt makes a cache that is not started yet begin with what was true at a revision, and hold everything later back.
// The API server must not have compacted that revision, which it does after five minutes.
func (g *Gate) FreezeAt(revision string, types ...client.Object) {
	g.Freeze(types...)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range types {
		g.startAt[typeName(t)] = revision
	}
}

// FreezeAllAt is FreezeAt for every type.
func (g *Gate) FreezeAllAt(revision string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = &past{revision: revision, over: make(chan struct{}), begun: map[string]bool{}}
}

// Thaw lets everything through.
func (g *Gate) Thaw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all != nil {
		close(g.all.over)
		g.all = nil
	}
	for _, c := range g.closed {
		close(c)
	}
	clear(g.closed)
}

// wait until events of the type may pass.
func (g *Gate) wait(name string, stop <-chan struct{}) bool {
	g.mu.Lock()
	closed := g.closed[name]
	if closed == nil && g.all != nil {
		closed = g.all.over
	}
	g.mu.Unlock()
	if closed == nil {
		return true
	}
	select {
	case <-closed:
		return true
	case <-stop:
		return false
	}
}

func (g *Gate) start(name string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all != nil && !g.all.begun[name] {
		g.all.begun[name] = true
		return g.all.revision
	}
	revision := g.startAt[name]
	delete(g.startAt, name)
	return revision
}

// NewInformer is a cache.Options.NewInformer.
func (g *Gate) NewInformer(lw toolscache.ListerWatcher, object k8sruntime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	gated := &gatedListWatch{gate: g, name: typeName(object), next: toolscache.ToListerWatcherWithContext(lw)}
	return toolscache.NewSharedIndexInformer(gated, object, resync, indexers)
}

type gatedListWatch struct {
	gate *Gate
	name string
	next toolscache.ListerWatcherWithContext
}

// IsWatchListSemanticsUnSupported makes the reflector list and then watch: a streamed list cannot begin in the past.
func (l *gatedListWatch) IsWatchListSemanticsUnSupported() bool { return true }

func (l *gatedListWatch) List(options metav1.ListOptions) (k8sruntime.Object, error) {
	return l.ListWithContext(context.Background(), options)
}

func (l *gatedListWatch) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), options)
}

func (l *gatedListWatch) ListWithContext(ctx context.Context, options metav1.ListOptions) (k8sruntime.Object, error) {
	if revision := l.gate.start(l.name); revision != "" {
		options.ResourceVersion, options.ResourceVersionMatch = revision, metav1.ResourceVersionMatchExact
	}
	return l.next.ListWithContext(ctx, options)
}

func (l *gatedListWatch) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	source, err := l.next.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	held := &heldWatch{source: source, script: l.gate.scripted(), out: make(chan watch.Event), done: make(chan struct{})}
	go held.forward(func() bool { return l.gate.wait(l.name, held.done) })
	return held, nil
}

// heldWatch forwards the events of a watch, each when it may pass.
type heldWatch struct {
	source watch.Interface
	script *Script
	out    chan watch.Event
	done   chan struct{}
	once   sync.Once
}

func (w *heldWatch) forward(pass func() bool) {
	defer close(w.out)
	withheld := &withheld{script: w.script}
	for {
		select {
		case event, open := <-w.source.ResultChan():
			if !open {
				withheld.release(w.send)
				return
			}
			if !pass() || !w.deliver(event, withheld) {
				return
			}
		case <-withheld.patience:
			if !withheld.release(w.send) {
				return
			}
		case <-w.done:
			return
		}
	}
}

// deliver delivers an event according to the script. It reports whether the watch continues.
func (w *heldWatch) deliver(event watch.Event, withheld *withheld) bool {
	eventFault, lasts := w.script.next(event)
	switch eventFault {
	case Lag:
		select {
		case <-time.After(lasts):
		case <-w.done:
			return false
		}
		w.script.over()
	case Coalesce:
		return withheld.release(w.send) && withheld.keep(event, lasts)
	case Seen: // it is delivered unchanged
	}
	return withheld.merge(event, w.send)
}

func (w *heldWatch) send(event watch.Event) bool {
	select {
	case w.out <- event:
		return true
	case <-w.done:
		return false
	}
}

// ResultChan is where the events come.
func (w *heldWatch) ResultChan() <-chan watch.Event { return w.out }

// Stop ends the watch.
func (w *heldWatch) Stop() {
	w.once.Do(func() {
		close(w.done)
		w.source.Stop()
	})
}
