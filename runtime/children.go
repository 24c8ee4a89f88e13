package runtime

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Children reads and writes what objects own, and never reads a child older than our last write to it.
// One serves all controllers of a process.
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

// mark is our last write to a child.
type mark struct {
	revision uint64
	uid      types.UID
	gone     bool
	labels   map[string]string
	at       time.Time
}

// NewChildren makes a Children over a cached client and a live reader.
func NewChildren(cached client.Client, live client.Reader, clk clock.PassiveClock) *Children {
	return &Children{client: cached, live: live, clock: clk, marks: map[types.UID]map[childKey]mark{}}
}

// Forget drops what is remembered of an owner that is gone.
func (c *Children) Forget(owner types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.marks, owner)
}

// Reader reads the owner's children: live, or from the cache. A cached read that is behind our own last write fails
// with ErrBehind; once that has lasted a second it is answered live instead.
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
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	gvk, gvkErr := apiutil.GVKForObject(object, r.children.client.Scheme())
	if gvkErr != nil {
		return gvkErr
	}
	var found client.Object
	if err == nil {
		found = object
	}
	switch r.children.behind(r.owner, childKey{gvk, key}, found) {
	case current:
		return err
	case wait:
		return ErrBehind
	default:
		return r.children.live.Get(ctx, key, object)
	}
}

func (r *childReader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := r.children.client.List(ctx, list, opts...); err != nil {
		return err
	}
	gvk, err := apiutil.GVKForObject(list, r.children.client.Scheme())
	if err != nil {
		return err
	}
	gvk.Kind = gvk.Kind[:len(gvk.Kind)-len("List")]
	var o client.ListOptions
	o.ApplyOptions(opts)
	found, err := byName(list)
	if err != nil {
		return err
	}
	worst := current
	for key, m := range r.children.of(r.owner) {
		if key.kind != gvk || o.Namespace != "" && o.Namespace != key.name.Namespace || !selected(&o, m.labels) {
			continue
		}
		worst = max(worst, r.children.behind(r.owner, key, found[key.name]))
	}
	switch worst {
	case current:
		return nil
	case wait:
		return ErrBehind
	default:
		return r.children.live.List(ctx, list, opts...)
	}
}

func selected(o *client.ListOptions, have map[string]string) bool {
	return o.LabelSelector == nil || o.LabelSelector.Matches(labelSet(have))
}

type labelSet map[string]string

func (l labelSet) Has(k string) bool              { _, ok := l[k]; return ok }
func (l labelSet) Get(k string) string            { return l[k] }
func (l labelSet) Lookup(k string) (string, bool) { v, ok := l[k]; return v, ok }

func byName(list client.ObjectList) (map[types.NamespacedName]client.Object, error) {
	found := map[types.NamespacedName]client.Object{}
	err := meta.EachListItem(list, func(item k8sruntime.Object) error {
		object, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("listing children: %T is not an object", item)
		}
		found[client.ObjectKeyFromObject(object)] = object
		return nil
	})
	return found, err
}

type lateness int

const (
	current lateness = iota
	wait
	tooLate
)

func (c *Children) of(owner types.UID) map[childKey]mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[childKey]mark, len(c.marks[owner]))
	for k, m := range c.marks[owner] {
		out[k] = m
	}
	return out
}

// behind compares what a cache holds with our last write, and forgets the write once it was seen.
func (c *Children) behind(owner types.UID, key childKey, found client.Object) lateness {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.marks[owner][key]
	if !ok {
		return current
	}
	if m.seen(found) {
		delete(c.marks[owner], key)
		return current
	}
	if c.clock.Since(m.at) < barrierPatience {
		return wait
	}
	// The live read that follows replaces what the cache should have shown.
	delete(c.marks[owner], key)
	return tooLate
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
