package lab

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// EventFault is a fault of the delivery of an event to the caches of an operator.
type EventFault string

// The event faults. Neither breaks what a watch promises: nothing is lost for ever.
const (
	// Lag holds an event back, and all events of its type that come after it.
	Lag EventFault = "lag"
	// Coalesce withholds an event until the next one about the same object, and delivers both as one, as a cache that lists again
	// observes them. Events about other objects pass. If no other one comes, it is delivered late.
	Coalesce EventFault = "coalesced"
	// Seen is no event fault: it only says that the event was met, for what happens elsewhere at that moment.
	Seen EventFault = "seen"
)

// EventPlan is one event fault at one event.
type EventPlan struct {
	Point Point
	Fault EventFault
	// Lasts is how long an event lags, or waits for another at the most.
	Lasts time.Duration
	// Met is how often each event was delivered before, to an operator that this one succeeds.
	Met map[string]int
	// Injected is called when the event fault is injected, before the event is delivered. It may not ask the Script anything.
	// Optional.
	Injected func()
}

// Script counts the events that are delivered to an operator, and injects its plan. Safe for concurrent use.
type Script struct {
	// Describe what an event is about; empty for what is no point for an event fault.
	Describe func(watch.Event) string

	mu       sync.Mutex
	armed    bool
	plan     EventPlan
	heard    []string
	counts   map[string]int
	injected bool
	// pending is whether the event that was hit by a fault is still held back.
	pending bool
}

// Follow makes the script that of all watches from now on.
func (g *Gate) Follow(s *Script) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.script = s
}

func (g *Gate) scripted() *Script {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.script
}

// Arm begins to count. A plan without a point only counts.
func (s *Script) Arm(plan EventPlan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed, s.plan, s.heard, s.counts, s.injected, s.pending = true, plan, nil, counted(plan.Met), false, false
}

// Heard are the events since, by what they are about.
func (s *Script) Heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.heard...)
}

// Met is how often each event was delivered, with those before.
func (s *Script) Met() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

// Injected says whether the plan was injected.
func (s *Script) Injected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.injected
}

// Pending says whether the event that was hit by a fault is still held back.
func (s *Script) Pending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending
}

// over records that the event is no longer held back.
func (s *Script) over() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = false
}

// next counts an event and says what happens to it, and how long.
func (s *Script) next(event watch.Event) (EventFault, time.Duration) {
	if s == nil || event.Type == watch.Bookmark || event.Type == watch.Error {
		return "", 0
	}
	about := s.Describe(event)
	if about == "" {
		return "", 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.armed {
		return "", 0
	}
	s.counts[about]++
	s.heard = append(s.heard, about)
	if s.injected || s.plan.Point != (Point{About: about, Nth: s.counts[about]}) {
		return "", 0
	}
	s.injected, s.pending = true, s.plan.Fault != Seen
	if s.plan.Injected != nil {
		s.plan.Injected()
	}
	return s.plan.Fault, s.plan.Lasts
}

// withheld is the event that waits for another about the same object.
type withheld struct {
	script   *Script
	event    watch.Event
	of       types.UID
	patience <-chan time.Time
}

func (h *withheld) keep(event watch.Event, most time.Duration) bool {
	h.event, h.of, h.patience = event, uidOf(event), time.After(most)
	return true
}

// release delivers the withheld event, if there is one.
func (h *withheld) release(send func(watch.Event) bool) bool {
	if h.of == "" {
		return true
	}
	event := h.event
	h.event, h.of, h.patience = watch.Event{}, "", nil
	h.script.over()
	return send(event)
}

// merge delivers the event, combined with the withheld one if that is about the same object. It delivers nothing if the object was
// created and deleted.
func (h *withheld) merge(next watch.Event, send func(watch.Event) bool) bool {
	if h.of == "" || h.of != uidOf(next) {
		return send(next)
	}
	h.script.over()
	first := h.event.Type
	h.event, h.of, h.patience = watch.Event{}, "", nil
	switch {
	case first == watch.Added && next.Type == watch.Deleted:
		return true
	case first == watch.Added:
		next.Type = watch.Added
	}
	return send(next)
}

func uidOf(event watch.Event) types.UID {
	if o, err := meta.Accessor(event.Object); err == nil {
		return o.GetUID()
	}
	return ""
}
