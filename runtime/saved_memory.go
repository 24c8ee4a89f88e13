package runtime

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/transitions"
)

// savedMemory is the state that a Reconciler keeps outside the API, which is lost when its process ends.
type savedMemory struct {
	objects         map[types.UID]*memory
	keys            map[types.NamespacedName]types.UID
	disruptionLocks map[types.UID]disruptionLock
	marks           map[types.UID]map[childKey]mark
	kind            SavedKindMemory
}

// SaveMemory copies the state of the Reconciler, including that of its DisruptionLocks, Children and Kind, for the exploration.
func (r *Reconciler[O, S, E]) SaveMemory(access.Key) access.Memory {
	m := &savedMemory{objects: map[types.UID]*memory{}, disruptionLocks: map[types.UID]disruptionLock{}, marks: map[types.UID]map[childKey]mark{}}
	r.memories.mu.Lock()
	for uid, one := range r.memories.byUID {
		m.objects[uid] = one.clone()
	}
	m.keys = maps.Clone(r.memories.byKey)
	r.memories.mu.Unlock()
	r.disruptionLocks.mu.Lock()
	for uid, one := range r.disruptionLocks.byUID {
		m.disruptionLocks[uid] = *one
	}
	r.disruptionLocks.mu.Unlock()
	r.children.mu.Lock()
	for uid, marks := range r.children.marks {
		m.marks[uid] = maps.Clone(marks)
	}
	r.children.mu.Unlock()
	if r.kind.Memory != nil {
		m.kind = r.kind.Memory.Save()
	}
	return m
}

// RestoreMemory replaces the state of the Reconciler. Nil means the empty state after a start. It must not be called during a
// reconcile.
func (r *Reconciler[O, S, E]) RestoreMemory(_ access.Key, saved access.Memory) {
	m, _ := saved.(*savedMemory)
	if m == nil {
		m = &savedMemory{}
	}
	r.memories.mu.Lock()
	clear(r.memories.byUID)
	clear(r.memories.byKey)
	for uid, one := range m.objects {
		r.memories.byUID[uid] = one.clone()
	}
	maps.Copy(r.memories.byKey, m.keys)
	r.memories.mu.Unlock()
	r.disruptionLocks.mu.Lock()
	clear(r.disruptionLocks.byUID)
	for uid, one := range m.disruptionLocks {
		r.disruptionLocks.byUID[uid] = &one
	}
	r.disruptionLocks.mu.Unlock()
	r.children.mu.Lock()
	clear(r.children.marks)
	for uid, marks := range m.marks {
		r.children.marks[uid] = maps.Clone(marks)
	}
	r.children.mu.Unlock()
	if r.kind.Memory != nil {
		r.kind.Memory.Restore(m.kind)
	}
}

func (m *memory) clone() *memory {
	c := *m
	c.pruned, c.repairing, c.applying, c.refusal = copied(m.pruned), copied(m.repairing), copied(m.applying), copied(m.refusal)
	c.releasing = copied(m.releasing)
	c.disclosed = make(map[string][]transitions.Reason, len(m.disclosed))
	for name, reasons := range m.disclosed {
		c.disclosed[name] = slices.Clone(reasons)
	}
	c.lifecycles = make(map[string]*trouble, len(m.lifecycles))
	for name, t := range m.lifecycles {
		c.lifecycles[name] = copied(t)
	}
	c.noted = maps.Clone(m.noted)
	c.paces = make(map[string]*pace, len(m.paces))
	for name, one := range m.paces {
		c.paces[name] = copied(one)
	}
	return &c
}

// copied returns a pointer to a copy, or nil.
func copied[T any](value *T) *T {
	if value == nil {
		return nil
	}
	own := *value
	return &own
}

// AppendCanonical implements access.Memory.
func (m *savedMemory) AppendCanonical(dst []byte, now time.Time, cached func(types.UID) uint64) []byte {
	for _, uid := range slices.Sorted(maps.Keys(m.objects)) {
		dst = m.objects[uid].appendCanonical(append(dst, 1), now, cached(uid))
	}
	for _, uid := range slices.Sorted(maps.Keys(m.disruptionLocks)) {
		s := m.disruptionLocks[uid]
		if s.target != "" {
			dst = append(append(dst, 2), s.target...)
			dst = appendUntil(dst, s.until, now)
		}
	}
	for _, marks := range m.marks {
		keys := slices.SortedFunc(maps.Keys(marks), func(a, b childKey) int {
			return cmp.Or(cmp.Compare(a.kind.Kind, b.kind.Kind), cmp.Compare(a.name.Name, b.name.Name))
		})
		for _, key := range keys {
			mark := marks[key]
			dst = append(append(append(dst, 3), key.kind.Kind...), key.name.Name...)
			dst = append(dst, bit(mark.gone), bit(now.Sub(mark.at) >= freshnessTimeout))
		}
	}
	if m.kind != nil {
		dst = m.kind.AppendCanonical(append(dst, 4), now)
	}
	return append(dst, 0xff)
}

func (m *memory) appendCanonical(dst []byte, now time.Time, cached uint64) []byte {
	behind := byte(0)
	switch {
	case m.own == 0:
	case m.own > cached:
		behind = 1
	case m.own <= cached:
		behind = 2
	}
	since := byte(0)
	if !m.staleSince.IsZero() {
		since = 1 + bit(now.Sub(m.staleSince) >= freshnessTimeout)
	}
	dst = append(dst, behind, since, bit(now.Before(m.shown.Add(projectionPause))))
	dst = append(append(dst, m.moved...), 0)
	for _, name := range slices.Sorted(maps.Keys(m.lifecycles)) {
		t := m.lifecycles[name]
		if t.failures > 0 || t.last != nil || t.defect() != nil || now.Before(t.notBefore) {
			dst = t.appendCanonical(append(append(dst, name...), 0), now)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.paces)) {
		if m.paces[name].exceeded {
			dst = append(append(dst, name...), 1)
		}
	}
	dst = append(dst, byte(m.applied))
	for _, step := range [...]*trouble{m.repairing, m.applying, m.releasing} {
		dst = step.appendCanonical(dst, now)
	}
	return dst
}

func (t *trouble) appendCanonical(dst []byte, now time.Time) []byte {
	const most = 3 // further failures only lengthen the back-off
	if t == nil {
		t = &trouble{}
	}
	dst = append(dst, byte(min(t.failures, most)), byte(t.generation), bit(t.last != nil), bit(t.defect() != nil))
	return appendUntil(dst, t.notBefore, now)
}

// appendUntil appends how much time is left: none, up to two seconds, up to a minute, or more.
func appendUntil(dst []byte, until, now time.Time) []byte {
	left := until.Sub(now)
	switch {
	case until.IsZero() || left <= 0:
		return append(dst, 0)
	case left <= 2*time.Second:
		return append(dst, 1)
	case left <= time.Minute:
		return append(dst, 2)
	}
	return append(dst, 3)
}

func bit(yes bool) byte {
	if yes {
		return 1
	}
	return 0
}
