package runtime

import (
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// uncertainFor is how long a disruption with an unknown outcome keeps the lock. The API server ends a request after a minute,
// so that a live observation after this time shows whether the disruption happened.
const uncertainFor = time.Minute

// DisruptionLocks holds one disruption lock per object. All controllers of a process that disrupt the same children share one.
// Its state only makes grants stricter: a grant depends on the availability in a live snapshot, which is sufficient after a
// restart. The state can be lost at any time.
type DisruptionLocks struct {
	mu    sync.Mutex
	byUID map[types.UID]*disruptionLock
}

// disruptionLock is the disruption lock of one object.
type disruptionLock struct {
	// round counts starts and ends of disruptions. A snapshot that was started in an earlier round may not show the last one.
	round uint64
	// target of the disruption that is in flight or whose outcome is unknown; empty if there is none.
	target string
	// instance of the target when the lock was granted.
	instance string
	// until is when an unknown outcome stops holding the lock; zero while the request is in flight.
	until time.Time
}

// uncertain reports whether the target may be disrupted although the snapshot does not show it.
func (s *disruptionLock) uncertain(live *Availability, now time.Time) bool {
	switch {
	case s.target == "":
		return false
	case s.until.IsZero():
		return true
	case live.replaced(s.target, s.instance):
		return false
	}
	return now.Before(s.until)
}

// NewDisruptionLocks returns the disruption locks of a process.
func NewDisruptionLocks() *DisruptionLocks {
	return &DisruptionLocks{byUID: map[types.UID]*disruptionLock{}}
}

// Forget drops the lock of a deleted object.
func (s *DisruptionLocks) Forget(owner types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byUID, owner)
}

// round returns the current round of the owner. Call it before a live observation is started and pass it to take with its
// snapshot.
func (s *DisruptionLocks) round(owner types.UID) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.byUID[owner]; one != nil {
		return one.round
	}
	return 0
}

// refusalReason is the kind of reason for which the disruption lock is not granted.
type refusalReason uint8

const (
	// outcomeUncertain: it is not known whether an earlier disruption happened.
	outcomeUncertain refusalReason = iota
	// observationTooOld: the snapshot may not show the last disruption.
	observationTooOld
	// membersUnavailable: other members are not available.
	membersUnavailable
)

// lockRefusal is why the disruption lock is not granted.
type lockRefusal struct {
	Reason refusalReason
	// Members are the ones that were disrupted or are not available, as users know them. There are none if the observation is too old.
	Members []string
}

func (r *lockRefusal) Error() string {
	switch r.Reason {
	case outcomeUncertain:
		return "another disruption is under way; the outcome of the disruption of " + list(r.Members) + " is not known yet"
	case observationTooOld:
		return "the observation is older than the last disruption"
	default:
		return "not available: " + list(r.Members)
	}
}

// take grants the lock to a target and returns nil, or returns why not. The lock is granted only if the snapshot is newer than the last
// disruption and no other member is unavailable.
//
// If no member serves, there is nothing to protect; a target that is shown to serve no client takes no capacity away. In both
// cases only members in the middle of a restart prevent the grant, so that two dead nodes cannot block each other's repair for
// ever; a lost member, whose pod is refused or does not end, is not in one. A target never prevents its own grant, so that a crash loop cannot block its own repair.
func (s *DisruptionLocks) take(owner types.UID, target string, live Availability, round uint64, now time.Time) *lockRefusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byUID[owner]
	if one == nil {
		one = &disruptionLock{}
		s.byUID[owner] = one
	}
	if one.target != target {
		switch {
		case one.uncertain(&live, now):
			return &lockRefusal{Reason: outcomeUncertain, Members: []string{live.title(one.target)}}
		case one.round != round:
			return &lockRefusal{Reason: observationTooOld}
		}
	}
	if others := live.blocking(target); len(others) > 0 {
		return &lockRefusal{Reason: membersUnavailable, Members: others}
	}
	one.round++
	one.target, one.instance, one.until = target, "", time.Time{}
	if m := live.member(target); m != nil {
		one.instance = m.Instance
	}
	return nil
}

// give ends a disruption with its outcome. Observations that are started afterwards show the effect, unless the outcome is
// unknown.
func (s *DisruptionLocks) give(owner types.UID, outcome error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byUID[owner]
	if one == nil {
		return
	}
	one.round++
	if unknownOutcome(outcome) {
		one.until = now.Add(uncertainFor)
		return
	}
	one.target, one.until = "", time.Time{}
}

// list joins at most three names.
func list(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:shown], ", ") + " and more"
}
