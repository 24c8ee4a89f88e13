package runtime

import (
	"errors"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// doubt is how long a disruption of unknown outcome keeps others out: the API server itself ends a request after a minute,
// so that after this the live view says whether it happened.
const doubt = time.Minute

// Slots hold the single disruption slot of each object. One serves all controllers of a process that disrupt the same
// object's children. What they remember only makes them stricter: a grant rests on what is unavailable in a live view, so that
// after a restart looking is enough. All of it can be lost at any moment.
type Slots struct {
	mu    sync.Mutex
	byUID map[types.UID]*slot
}

// slot of one object.
type slot struct {
	// round counts beginnings and ends of disruptions. A view that was begun in an earlier round may not show the last one.
	round uint64
	// target of the disruption that is under way or whose outcome is unknown; empty if there is none.
	target string
	// instance that stood behind the target when it was granted.
	instance string
	// until is when the doubt about the outcome ends; zero while the request is under way.
	until time.Time
}

// doubtful says whether the target may still be disrupted although it does not show.
func (s *slot) doubtful(live *Availability, now time.Time) bool {
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

// NewSlots makes the slots of a process.
func NewSlots() *Slots { return &Slots{byUID: map[types.UID]*slot{}} }

// Forget drops the slot of an object that is gone.
func (s *Slots) Forget(owner types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byUID, owner)
}

// round is asked before a live view is begun, and handed to take with that view.
func (s *Slots) round(owner types.UID) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.byUID[owner]; one != nil {
		return one.round
	}
	return 0
}

// take grants the slot to a target, or says why not: only if nothing else is unavailable, as seen since the last disruption.
//
// When nothing serves there is nothing to protect, and a target that is shown to serve no client takes nothing away: then only
// what is in the middle of a restart is waited for, so that two lost nodes cannot block each other's repair for ever. A target
// never blocks itself, so that a crash loop cannot hold the slot against its own repair.
func (s *Slots) take(owner types.UID, target string, live Availability, round uint64, now time.Time) (why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byUID[owner]
	if one == nil {
		one = &slot{}
		s.byUID[owner] = one
	}
	if one.target != target {
		switch {
		case one.doubtful(&live, now):
			return "whether " + one.target + " was disturbed is not known yet"
		case one.round != round:
			return "the last look is older than the last disruption"
		}
	}
	if others := live.blocking(target); len(others) > 0 {
		return "not available: " + list(others)
	}
	one.round++
	one.target, one.instance, one.until = target, "", time.Time{}
	if m := live.member(target); m != nil {
		one.instance = m.Instance
	}
	return ""
}

// give ends a disruption: what became of it shows in live views that are begun from now on, unless its outcome is unknown.
func (s *Slots) give(owner types.UID, outcome error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byUID[owner]
	if one == nil {
		return
	}
	one.round++
	if unknownOutcome(outcome) {
		one.until = now.Add(doubt)
		return
	}
	one.target, one.until = "", time.Time{}
}

// unknownOutcome says whether a request that failed may have been carried out all the same.
func unknownOutcome(err error) bool {
	if err == nil || errors.Is(err, ErrWait) || errors.Is(err, ErrBehind) {
		return false
	}
	var refused apierrors.APIStatus
	if !errors.As(err, &refused) {
		return true
	}
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err) || apierrors.IsUnexpectedServerError(err)
}

// list shows at most three names.
func list(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:shown], ", ") + " and more"
}
