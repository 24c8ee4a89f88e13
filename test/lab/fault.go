package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// Fault is what happens to an operator at one of its effects.
type Fault string

// The faults. Every effect of an operator, a write to the API server or one on another system, is a point where they are injected.
const (
	// CrashBefore ends the operator before the effect.
	CrashBefore Fault = "crash before"
	// CrashAfter ends it after the effect, before it learns of it.
	CrashAfter Fault = "crash after"
	// LoseReply carries the effect out and loses the answer; the operator lives.
	LoseReply Fault = "reply lost"

	// Conflict and those below are answers of an API server in trouble, given once: the effect does not happen. On another
	// system all of them are a connection that breaks before the request is sent.
	Conflict    Fault = "conflict"
	Invalid     Fault = "invalid"
	Throttled   Fault = "too many requests"
	Broken      Fault = "internal error"
	GatewayLate Fault = "gateway time-out"
	// Reset breaks the connection before the request is sent.
	Reset Fault = "connection reset"
	// Slow carries the effect out after a while that is longer than what a freshness check waits.
	Slow Fault = "slow"
	// Watched is no fault: it only says that the effect was reached, for what another component does then.
	Watched Fault = "watched"
)

// Crashes are the faults after which another operator must carry on, or this one without knowing what it did.
func Crashes() []Fault { return []Fault{CrashBefore, CrashAfter, LoseReply} }

// Troubles are the other faults.
func Troubles() []Fault {
	return []Fault{Conflict, Invalid, Throttled, Broken, GatewayLate, Reset, Slow}
}

// slowFor is longer than the second for which a freshness check waits, and shorter than any request's own patience.
const slowFor = 1500 * time.Millisecond

var (
	// ErrCrashed is what every request of a dead operator returns.
	ErrCrashed = errors.New("this operator has crashed")
	// errReset is returned to the caller of an effect that was never begun.
	errReset = fmt.Errorf("writing the request: %w", syscall.ECONNRESET)
	// errReplyLost is returned to the caller of an effect whose answer was lost.
	errReplyLost = fmt.Errorf("reading the answer: %w", context.DeadlineExceeded)
)

// Point is an effect or an event by what it is about, and which of those that are about the same it is, counted from 1. Unlike
// a plain number it means the same in a run that takes another way.
type Point struct {
	About string
	Nth   int
}

func (p Point) String() string { return fmt.Sprintf("%s (%d)", p.About, p.Nth) }

// Plan is one fault at one effect, counted from 1, or at a point if one is given.
type Plan struct {
	At    int
	Point Point
	Fault Fault
	// Met is how often each effect happened before, to an operator that this one succeeds.
	Met map[string]int
	// Injected is called when the fault is injected, before the effect. It may not ask the FaultInjector anything. Optional.
	Injected func()
}

func (p Plan) isAt(count int, at Point) bool {
	if p.Point != (Point{}) {
		return p.Point == at
	}
	return p.At == count
}

// FaultInjector count the effects of one operator and injects its plan. Safe for concurrent use.
type FaultInjector struct {
	mu       sync.Mutex
	plan     Plan
	armed    bool
	effects  int
	names    []string
	counts   map[string]int
	dead     bool
	injected bool
	// slow is whether an effect is held up at the moment.
	slow  bool
	crash func()
	// describe what a request is about.
	describe func(*http.Request, Request) string
}

// Arm begins to count: effects before do not matter to the plan. A plan at 0 only counts.
func (m *FaultInjector) Arm(plan Plan) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plan, m.armed, m.effects, m.names, m.counts, m.injected = plan, true, 0, nil, counted(plan.Met), false
}

// counted is a count that continues another one.
func counted(before map[string]int) map[string]int {
	if before == nil {
		return map[string]int{}
	}
	return maps.Clone(before)
}

// Met is how often each effect has happened, with those before.
func (m *FaultInjector) Met() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.counts)
}

// Effects since the plan was armed, by name.
func (m *FaultInjector) Effects() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.names...)
}

// Injected says whether the plan was injected.
func (m *FaultInjector) Injected() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.injected
}

// Pending says whether an effect is held up at the moment.
func (m *FaultInjector) Pending() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.slow
}

// holdUp an effect, until it has waited for long or is done with.
func (m *FaultInjector) holdUp(done <-chan struct{}) {
	m.setSlow(true)
	defer m.setSlow(false)
	select {
	case <-time.After(slowFor):
	case <-done:
	}
}

func (m *FaultInjector) setSlow(slow bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slow = slow
}

// next counts an effect and says what happens to it.
func (m *FaultInjector) next(name string) Fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return CrashBefore
	}
	if !m.armed {
		return ""
	}
	m.effects++
	m.names = append(m.names, name)
	m.counts[name]++
	if m.injected || !m.plan.isAt(m.effects, Point{About: name, Nth: m.counts[name]}) {
		return ""
	}
	m.injected = true
	if m.plan.Injected != nil {
		m.plan.Injected()
	}
	return m.plan.Fault
}

// about what a request is.
func (m *FaultInjector) about(request *http.Request, seen Request) string {
	if m.describe != nil {
		return m.describe(request, seen)
	}
	return seen.String()
}

func (m *FaultInjector) isDead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// die makes sure that nothing of this operator happens any more.
func (m *FaultInjector) die() {
	m.mu.Lock()
	m.dead = true
	crash := m.crash
	m.mu.Unlock()
	if crash != nil {
		crash()
	}
}

// Around is an effect on another system than the API server.
func (m *FaultInjector) Around(name string, do func() error) error {
	switch m.next(name) {
	case CrashBefore:
		m.die()
		return ErrCrashed
	case CrashAfter:
		defer m.die()
		return errors.Join(ErrCrashed, do())
	case LoseReply:
		return errors.Join(errReplyLost, do())
	case Slow:
		m.holdUp(nil)
		return do()
	case Conflict, Invalid, Throttled, Broken, GatewayLate, Reset:
		return errReset
	default:
		return do()
	}
}

// transport counts and loses what an operator asks of the API server.
type transport struct {
	next     http.RoundTripper
	traffic  *Traffic
	injector *FaultInjector
}

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if t.injector.isDead() {
		return nil, ErrCrashed
	}
	seen := classify(request)
	fault := Fault("")
	if seen.Writes() && seen.Resource != "events" { // an event that is lost is lost
		fault = t.injector.next(t.injector.about(request, seen))
	}
	switch fault {
	case CrashBefore:
		t.injector.die()
		return nil, ErrCrashed
	case Reset:
		return nil, errReset
	case Slow:
		t.injector.holdUp(request.Context().Done())
		if err := request.Context().Err(); err != nil {
			return nil, err
		}
	case Conflict, Invalid, Throttled, Broken, GatewayLate:
		return refusal(fault, request, seen), nil
	case CrashAfter, LoseReply, Watched: // these come after the answer, or not at all
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	seen.Code = response.StatusCode
	t.traffic.add(seen)
	switch fault {
	case CrashAfter:
		t.injector.die()
		return nil, errors.Join(ErrCrashed, response.Body.Close())
	case LoseReply:
		return nil, errors.Join(errReplyLost, response.Body.Close())
	default:
		return response, nil
	}
}
