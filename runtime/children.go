package runtime

import (
	"context"
	"maps"
	"reflect"
	"sync"
	"time"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Children reads and writes the children of objects. It never returns a child that is older than our last write to it. All
// controllers of a process share one. It is safe for concurrent use.
type Children struct {
	client client.Client
	live   client.Reader
	clock  clock.PassiveClock

	mu    sync.Mutex
	marks map[types.UID]map[childKey]mark
}

type childKey struct {
	kind schema.GroupVersionKind
	name types.NamespacedName
}

// mark is our last write to a child. It is kept until a read shows it.
type mark struct {
	revision uint64
	uid      types.UID
	gone     bool
	labels   map[string]string
	at       time.Time
}

// NewChildren returns a Children over a cached client and a live reader.
func NewChildren(cached client.Client, live client.Reader, clk clock.PassiveClock) *Children {
	return &Children{client: cached, live: live, clock: clk, marks: map[types.UID]map[childKey]mark{}}
}

// Forget drops the marks of an owner that was deleted.
func (c *Children) Forget(owner types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.marks, owner)
}

// Reader returns a reader of the owner's children: live, or from the cache. A cached read that is behind our last write fails
// with ErrStale. Once the cache has been behind for a second, the read is answered by the API server instead.
func (c *Children) Reader(owner types.UID, live bool) client.Reader {
	if live {
		return c.live
	}
	return &childReader{children: c, owner: owner}
}

type childReader struct {
	children *Children
	owner    types.UID
}

func (r *childReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	err := r.children.client.Get(ctx, key, object, opts...)
	if err != nil && !ObjectMissing(err) || !r.children.hasMarks(r.owner) {
		return err
	}
	gvk, gvkErr := apiutil.GVKForObject(object, r.children.client.Scheme())
	if gvkErr != nil {
		return gvkErr
	}
	child := childKey{gvk, key}
	switch r.children.behind(r.owner, child, present(object, err)) {
	case current:
		return err
	case wait:
		return ErrStale
	case tooLate: // read live below
	}
	blank(object)
	err = r.children.live.Get(ctx, key, object)
	if err == nil || ObjectMissing(err) {
		r.children.saw(r.owner, child, present(object, err))
	}
	return err
}

func present(object client.Object, err error) client.Object {
	if err != nil {
		return nil
	}
	return object
}

// blank empties an object that the cache has filled: decoding keeps the fields that the newer text does not contain. The kind stays, which
// only the object itself knows if it is unstructured.
func blank(object k8sruntime.Object) {
	kind := object.GetObjectKind().GroupVersionKind()
	reflect.ValueOf(object).Elem().SetZero()
	if !kind.Empty() {
		object.GetObjectKind().SetGroupVersionKind(kind)
	}
}

type lateness int

const (
	current lateness = iota
	wait
	tooLate
)

// hasMarks reports whether a write to a child of the owner may not be visible in the cache yet.
func (c *Children) hasMarks(owner types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.marks[owner]) > 0
}

func (c *Children) of(owner types.UID) map[childKey]mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.marks[owner])
}

// behind compares what a cache returned with our last write, and drops the mark once the write is visible. A write that is not
// visible after a second requires a live read, on every read until the cache has caught up.
func (c *Children) behind(owner types.UID, key childKey, found client.Object) lateness {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.marks[owner][key]
	if !ok {
		return current
	}
	if m.seen(found) {
		c.unmark(owner, key)
		return current
	}
	if c.clock.Since(m.at) < freshnessTimeout {
		return wait
	}
	return tooLate
}

func (c *Children) unmark(owner types.UID, key childKey) {
	delete(c.marks[owner], key)
	if len(c.marks[owner]) == 0 {
		delete(c.marks, owner)
	}
}

// saw corrects a mark after a live read. Another writer may have deleted the child that we wrote, or recreated the one that we
// deleted; the cache would then never show the state that the mark waits for.
func (c *Children) saw(owner types.UID, key childKey, live client.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.marks[owner][key]
	if !ok {
		return
	}
	switch {
	case live == nil:
		m.gone = true
	case m.gone && !m.seen(live):
		n, err := revision(live)
		if err != nil {
			return
		}
		m.gone, m.revision = false, n
	}
	c.marks[owner][key] = m
}

func (m mark) seen(found client.Object) bool {
	if found == nil {
		return m.gone
	}
	if m.gone {
		return found.GetUID() != m.uid || found.GetDeletionTimestamp() != nil
	}
	n, err := revision(found)
	return err == nil && n >= m.revision
}
