package campaign

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/detent-dev/detent/test/lab"
)

// Outage is a fault of an external system, such as a readiness probe that fails. It starts at an effect or event, before that
// is executed or delivered.
type Outage struct {
	// Class is the row of the table. Required.
	Class Class
	// Variant distinguishes outages of one class, which are alternated. Optional.
	Variant string
	// Lasts is the duration on the wall clock, after which the outage is undone. 0 is permanent.
	Lasts time.Duration
	// Begin starts the outage in a namespace. draw selects what is affected, and is the same whenever the plan is repeated. The
	// returned function ends the outage; it is nil if Lasts is 0. Begin is called while an effect or event is blocked, and must
	// return soon. Required.
	Begin func(a *Environment, namespace string, draw uint32) (end func() error, err error)
}

func (o Outage) name() string {
	if o.Variant == "" {
		return string(o.Class)
	}
	return fmt.Sprintf("%s (%s)", o.Class, o.Variant)
}

// outagePlans returns plans of every class at every effect, and of one class at each event in turn: an event lies between two
// effects, and all classes at each would double the campaign.
func outagePlans(effects, events []lab.Point, outages []Outage) []Plan {
	byClass := map[Class][]string{}
	var classes []Class
	for _, o := range outages {
		if byClass[o.Class] == nil {
			classes = append(classes, o.Class)
		}
		byClass[o.Class] = append(byClass[o.Class], o.name())
	}
	var out []Plan
	for c, class := range classes {
		variants := byClass[class]
		for i, at := range effects {
			out = append(out, Plan{Class: class, Point: at, Outage: variants[i%len(variants)]})
		}
		for i := c; i < len(events); i += len(classes) {
			out = append(out, Plan{Class: class, Point: events[i], Outage: variants[i/len(classes)%len(variants)], AtEvent: true})
		}
	}
	return out
}

// draw returns the random number of the plan, the same for equal plans.
func (p Plan) draw() uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(p.String())) // never fails
	return h.Sum32()
}

// outageRun is the outage of one run. Its zero value has none.
type outageRun struct {
	mu      sync.Mutex
	lasting bool
	timer   *time.Timer
	undo    func() error
	err     error
}

// begin starts the outage of the plan in the stage's namespace.
func (r *outageRun) begin(s *stage, plan Plan) {
	i := slices.IndexFunc(s.subject.Outages, func(o Outage) bool { return o.name() == plan.Outage })
	if i < 0 {
		return
	}
	o := s.subject.Outages[i]
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.undo, r.err = o.Begin(s.environment, s.namespace, plan.draw()); r.err != nil || r.undo == nil {
		return
	}
	r.lasting = true
	r.timer = time.AfterFunc(o.Lasts, func() { _ = r.end() }) // the error is kept until the run ends
}

// end ends the outage if it lasts, and returns what failed.
func (r *outageRun) end() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lasting {
		r.lasting = false
		r.timer.Stop()
		r.err = errors.Join(r.err, r.undo())
	}
	if r.err == nil {
		return nil
	}
	return fmt.Errorf("making an outage: %w", r.err)
}

// isLasting reports whether the outage has started and not ended.
func (r *outageRun) isLasting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lasting
}
