package explore

import (
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/access"
	"github.com/detent-dev/detent/internal/pass"
)

// state is everything at one moment.
type state struct {
	now time.Time
	// live is what the API server stores, seen what the operator's cache shows.
	live, seen objectStore
	// revision of the last write, and the number of objects created.
	revision, created uint64
	// memory of the operator's process; nil after a start.
	memory access.Memory
	world  World
	// timer is the time of the requeue, zero for none. woken means that an event is in the work queue.
	timer time.Time
	woken bool
	// refused is the number of further reconciles in which every status write is refused. flaps is the number of further
	// reconciles before which the target changes.
	refused, flaps int
	// lost are children that must be restored. counts are of the transitions of each lifecycle.
	lost   []loss
	counts []transitionCount
	// own is the revision of the last status that an operator wrote, and ownTerm the term of that operator.
	own     uint64
	ownTerm uint32
	// term identifies the leader. staleLeader is the previous leader if it still runs.
	term        uint32
	staleLeader *staleLeader
}

func (s *state) clone() *state {
	c := *s
	if s.world != nil {
		c.world = s.world.Clone()
	}
	return &c
}

// lagging returns the records that the cache does not show in their current version, and those that it shows although they are
// deleted.
func (s *state) lagging() (stale, gone []*record) {
	for _, r := range s.live {
		if s.seen.Find(r.Kind, r.Key) != r {
			stale = append(stale, r)
		}
	}
	for _, r := range s.seen {
		if s.live.Find(r.Kind, r.Key) == nil {
			gone = append(gone, r)
		}
	}
	return stale, gone
}

func (s *state) current() bool { return slices.Equal(s.live, s.seen) }

// due reports whether a reconcile is due.
func (s *state) due() bool {
	return s.woken || !s.timer.IsZero() && !s.timer.After(s.now)
}

// put stores an object under a new revision.
func (s *state) put(r *record, object client.Object) {
	s.revision++
	object.SetResourceVersion(strconv.FormatUint(s.revision, 10))
	s.live = s.live.With(keep(r.Kind, object, r.Version+1))
}

// remove deletes a record and what it controls.
func (s *state) remove(r *record) {
	s.revision++
	s.live = s.live.Without(r.Kind, r.Key)
	for _, child := range s.live.ControlledBy(r.Object) {
		s.remove(child)
	}
}

func (s *state) bornUID() types.UID {
	s.created++
	return UID(s.created)
}

// UID returns the UID of the object that was created as the nth, counted from 1: the object of the Subject, its children in
// order, then further objects. A World may name its pods by it.
func UID(nth uint64) types.UID {
	return types.UID("00000000-0000-4000-8000-" + strconv.FormatUint(1_000_000_000_000+nth, 10)[1:])
}

// hash returns the hash of a state. Equal states have the same hash.
func (w *worker[O, S, E]) hash(s *state) uint64 {
	dst := w.text[:0]
	for _, r := range s.live {
		dst = w.appendEntries(appendNumber(dst, r.Content), s, r)
	}
	dst = w.appendOperator(dst, s, s.seen, s.memory)
	if f := s.staleLeader; f != nil {
		dst = w.appendOperator(append(dst, 0xfd, f.passes, bit(s.ownTerm == s.term)), s, f.seen, f.memory)
	}
	dst = append(dst, bit(s.woken), bit(s.timer.IsZero()), bit(s.due()))
	if !s.due() && !s.timer.IsZero() {
		dst = append(dst, soon(s.timer.Sub(s.now)))
	}
	dst = s.appendTrials(dst)
	if s.world != nil {
		dst = s.world.AppendCanonical(dst, w.scenario.at(s))
	}
	w.text = dst
	return xxhash.Sum64(dst)
}

// appendOperator appends how an operator's cache differs from the stored objects, and what its process has in memory.
func (w *worker[O, S, E]) appendOperator(dst []byte, s *state, seen objectStore, memory access.Memory) []byte {
	for _, r := range s.live {
		switch old := seen.Find(r.Kind, r.Key); old {
		case nil:
			dst = append(dst, 1)
		case r:
			dst = append(dst, 0)
		default:
			dst = w.appendEntries(appendNumber(append(dst, 2), old.Content), s, old)
		}
	}
	for _, r := range seen {
		if s.live.Find(r.Kind, r.Key) == nil {
			dst = appendNumber(append(dst, 3), r.Content)
		}
	}
	if memory == nil { // the process has not reconciled yet
		return append(dst, 0)
	}
	return memory.AppendCanonical(dst, s.now, func(uid types.UID) uint64 {
		if r := w.main(seen); r != nil && r.Object.GetUID() == uid {
			return r.Revision
		}
		return 0
	})
}

// appendEntries appends the persisted states of the lifecycles.
func (w *worker[O, S, E]) appendEntries(dst []byte, s *state, r *record) []byte {
	from, ok := r.Object.(lifecycled)
	if !ok {
		return dst
	}
	status := from.LifecycleStatus()
	for i := range status.Lifecycles {
		dst = w.appendEntry(dst, s, &status.Lifecycles[i])
	}
	return append(dst, 0xfe)
}

func (w *worker[O, S, E]) appendEntry(dst []byte, s *state, e *lifecyclev1.Lifecycle) []byte {
	dst = append(append(append(append(dst, e.Name...), 0), e.State...), 0)
	dst = append(dst, w.scenario.at(s).Age(e.EnteredAt.Time), bit(e.Deadline != nil && !s.now.Before(e.Deadline.Time)))
	for _, key := range keysOf(e.Data) {
		dst = append(append(append(append(dst, key...), 0), e.Data[key]...), 0)
	}
	if e.Attempt != nil {
		dst = append(append(append(append(dst, e.Attempt.From...), 0), e.Attempt.To...), 0)
	}
	if p := e.Progress; p != nil {
		dst = append(append(dst, byte(p.Done), byte(p.Total)), p.Current...)
	}
	for i := range e.WaitingFor {
		dst = append(append(dst, e.WaitingFor[i].Guard...), 0)
	}
	if lc := pass.Find(w.lifecycles, e.Name); lc != nil {
		dst = append(dst, bit(e.TransitionsSinceProgress > lc.MaxTransitionsWithoutProgress()))
	}
	return dst
}

func keysOf(m map[string]string) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func appendNumber(dst []byte, n uint64) []byte {
	return append(dst, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), byte(n>>32), byte(n>>40), byte(n>>48), byte(n>>56))
}

// soon distinguishes delays of retries, of polls and of the resync.
func soon(d time.Duration) byte {
	switch {
	case d <= 2*time.Second:
		return 0
	case d <= time.Minute:
		return 1
	}
	return 2
}
