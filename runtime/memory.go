package runtime

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/transitions"
)

// memory is the state that a process keeps for an object outside the API. It can be lost at any time without harm.
type memory struct {
	uid types.UID
	// own is the newest resourceVersion that is known to be ours. 0 means unknown: a live read must precede any action.
	own uint64
	// staleSince is when the cache was first observed behind own.
	staleSince time.Time
	// pruned counts status writes that the API server stored without some of the fields that were sent. Nil if there are none.
	pruned *trouble
	// observationFailedSince is the time of the first of the consecutive failed observations; zero after a successful one.
	observationFailedSince time.Time
	// moved is the lifecycle that took the last transition.
	moved string
	// shown is when a changed projection was last written.
	shown time.Time
	// disclosed are the problems that the status has shown since the last transition of their lifecycle.
	disclosed map[string][]transitions.Reason
	// lifecycles have separate back-off, so that a failing lifecycle does not delay another.
	lifecycles map[string]*trouble
	// repairing and applying have separate back-off: desired children that cannot be applied must not delay the repair of lost
	// ones. Nil while the step succeeds.
	repairing, applying *trouble
	// releasing is why the finalizer of an object with nothing left to release could not be removed. Nil if it was not refused.
	releasing *trouble
	// applied is the generation whose children were last applied; 0 if none were.
	applied int64
	// measured is the resourceVersion of the stored status that the gauges show; empty if they show another.
	measured string
	// shows are the gauges of the object; nil if none were set.
	shows *objectSeries
	// noted is the digest of the last journal line of each lifecycle.
	noted map[string]string
	// paces limit the transitions of each lifecycle.
	paces map[string]*pace
	// refusal counts the status writes that failed since the last one that succeeded. Nil if there are none.
	refusal *refusal
}

// trouble is the failure of a step, its back-off, and the message that is shown for it.
type trouble struct {
	failures  int
	notBefore time.Time
	// generation is that of the object when a step on its children failed, whose pause ends with it; 0 for other steps.
	generation int64
	// last is why the step did not complete, as the status shows it; nil if it did.
	last error
	// deciding and acting are the defects of the machine in the last reconcile, found while deciding and while acting.
	deciding, acting error
	// unlisted is why it was not known in the last reconcile which instances of the lifecycle there are; empty if it was, or no reason was.
	unlisted string
}

// ensured returns the value of a pointer that is nil while there is nothing to keep.
func ensured[T any](value **T) *T {
	if *value == nil {
		*value = new(T)
	}
	return *value
}

// over resets the back-off after a success, or when the step is not needed any more.
func (t *trouble) over() { t.failures, t.last, t.acting, t.notBefore = 0, nil, nil, time.Time{} }

// defect returns the defect of the lifecycle's machine, or nil.
func (t *trouble) defect() error {
	if t == nil {
		return nil
	}
	if t.deciding != nil {
		return t.deciding
	}
	return t.acting
}

func (m *memory) trouble(lifecycle string) *trouble {
	t := m.lifecycles[lifecycle]
	if t == nil {
		if m.lifecycles == nil {
			m.lifecycles = map[string]*trouble{}
		}
		t = &trouble{}
		m.lifecycles[lifecycle] = t
	}
	return t
}

// forget drops what is kept for instances that are gone.
func (m *memory) forget(lifecycles []string) {
	for _, name := range lifecycles {
		delete(m.lifecycles, name)
		delete(m.paces, name)
		delete(m.disclosed, name)
		delete(m.noted, name)
	}
}

// memories holds one memory per object. A memory is accessed only by the worker that reconciles its object.
type memories struct {
	mu    sync.Mutex
	byUID map[types.UID]*memory
	byKey map[types.NamespacedName]types.UID
}

func newMemories() *memories {
	return &memories{byUID: map[types.UID]*memory{}, byKey: map[types.NamespacedName]types.UID{}}
}

// of returns the memory of the object. An object with another UID under the same name starts with an empty memory; the second
// result is the memory of the previous object, if there was one.
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
		one = &memory{uid: uid}
		m.byUID[uid] = one
	}
	return one, replaced
}

// forget drops the memory of a deleted object and returns it.
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
