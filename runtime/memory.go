package runtime

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// memory is what a process knows of an object besides the API: all of it can be lost at any moment without harm.
type memory struct {
	uid types.UID
	// own is the newest resourceVersion known to be ours; 0 means unknown, and a live read must come before any action.
	own uint64
	// behindSince is when the cache was first seen behind own.
	behindSince time.Time
	// pruned counts status writes that the API server stored without parts of what was sent.
	pruned trouble
	// blindSince is when the world could not be looked at for the first time in a row; zero if it could.
	blindSince time.Time
	// moved is the lifecycle that moved last.
	moved string
	// shown is when a changed projection was last written.
	shown time.Time
	// lifecycles have their troubles each by itself, so that none holds back another.
	lifecycles map[string]*trouble
	// repairing and applying children fail apart: what is newly wanted and cannot be had must not keep what was lost away.
	repairing, applying trouble
	// gauges are the label values of the metrics this object has series for.
	gauges gauges
	// measured is the resourceVersion whose stored status the gauges show; empty if they show another.
	measured string
	// noted is what the journal was last told of each lifecycle.
	noted map[string]string
	// paces bound the transitions of each lifecycle.
	paces map[string]*pace
	// refusal of a status write that was last reported.
	refusal refusal
}

// trouble is what keeps failing, until when it is left alone, and what a person should read of it.
type trouble struct {
	failures  int
	notBefore time.Time
	// last is why the action did not do what it wants.
	last string
	// deciding and acting are the defects of the machine that the last pass met there.
	deciding, acting string
}

// over says that what failed has worked, or is not wanted any more.
func (t *trouble) over() { t.failures, t.last, t.acting, t.notBefore = 0, "", "", time.Time{} }

// defect of the lifecycle's machine, or nothing.
func (t *trouble) defect() string {
	if t == nil {
		return ""
	}
	if t.deciding != "" {
		return t.deciding
	}
	return t.acting
}

func (m *memory) trouble(lifecycle string) *trouble {
	t := m.lifecycles[lifecycle]
	if t == nil {
		t = &trouble{}
		m.lifecycles[lifecycle] = t
	}
	return t
}

// memories keeps one memory per object. A memory is only touched by the worker that reconciles its object.
type memories struct {
	mu    sync.Mutex
	byUID map[types.UID]*memory
	byKey map[types.NamespacedName]types.UID
}

func newMemories() *memories {
	return &memories{byUID: map[types.UID]*memory{}, byKey: map[types.NamespacedName]types.UID{}}
}

// of returns the memory of the object. A new object of an old name starts afresh.
func (m *memories) of(key types.NamespacedName, uid types.UID) (*memory, *memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var replaced *memory
	if old, ok := m.byKey[key]; ok && old != uid {
		replaced = m.byUID[old]
		delete(m.byUID, old)
	}
	m.byKey[key] = uid
	one := m.byUID[uid]
	if one == nil {
		one = &memory{uid: uid, lifecycles: map[string]*trouble{}, paces: map[string]*pace{}}
		m.byUID[uid] = one
	}
	return one, replaced
}

// forget drops the memory of an object that is gone.
func (m *memories) forget(key types.NamespacedName) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	uid, ok := m.byKey[key]
	if !ok {
		return nil
	}
	old := m.byUID[uid]
	delete(m.byKey, key)
	delete(m.byUID, uid)
	return old
}
