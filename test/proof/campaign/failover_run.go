package campaign

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/detent-dev/detent/test/lab"
)

// failoverRun is a failover run: several operators, each of which follows one that crashed.
type failoverRun struct {
	*stage
	plan Plan
	// since is the revision before the change.
	since     uint64
	operators []*operatorRun
	outage    outageRun
}

// operatorRun is the run of one operator, with the events that are delivered to it.
type operatorRun struct {
	*lab.Operator
	script *lab.Script
	fault  lab.Fault
}

func (r *failoverRun) last() *operatorRun { return r.operators[len(r.operators)-1] }

// fired reports whether every fault of the plan was injected.
func (r *failoverRun) fired() bool {
	injected := func(s *operatorRun) bool { return s.Injected() || s.script.Injected() }
	return injected(r.operators[0]) && (r.plan.Then == nil || len(r.operators) > 1 && injected(r.operators[1]))
}

// begin starts the first operator, without a fault yet.
func (r *failoverRun) begin(ctx context.Context) error {
	next, err := r.start(ctx, "", nil, nil)
	if err != nil {
		return err
	}
	next.fault = r.plan.fault().Fault
	r.operators = append(r.operators, next)
	return nil
}

// fault returns the fault of a plan at an effect. After it the operator must reconcile once more before the object counts as
// resting: it may only seem to rest until the retry.
func (r *failoverRun) fault(plan Plan) lab.Plan {
	out := plan.fault()
	out.Injected = func() {
		r.ended.Store(0)
		r.outage.begin(r.stage, plan)
	}
	return out
}

// eventFault returns the fault of a plan at an event.
func (r *failoverRun) eventFault(plan Plan) lab.EventPlan {
	out := plan.eventFault()
	out.Injected = func() { r.outage.begin(r.stage, plan) }
	return out
}

// succeed starts the successor of an operator that crashed. The first successor may start at an earlier revision, and gets the
// second fault.
func (r *failoverRun) succeed(ctx context.Context) error {
	if err := r.last().Kill(); err != nil {
		return err
	}
	var effect *lab.Plan
	var event *lab.EventPlan
	first, revision := len(r.operators) == 1, ""
	if first && r.plan.Then != nil {
		effect, event = new(r.fault(*r.plan.Then)), new(r.eventFault(*r.plan.Then))
		effect.Met, event.Met = r.last().Met(), r.last().script.Met()
	}
	if first && r.plan.Class == Travelled {
		revision = r.past(r.plan.Depth, r.since)
	}
	next, err := r.start(ctx, revision, effect, event)
	if err != nil {
		return err
	}
	if effect != nil {
		next.fault = effect.Fault
	}
	r.operators = append(r.operators, next)
	r.thaw(ctx, next.Operator, revision)
	return nil
}

// rest waits until the object rests in the generation or a later one, no fault delays anything, every event was observed, and
// no write follows. A fault that is injected later would affect another change.
func (r *failoverRun) rest(ctx context.Context, generation int64) error {
	for {
		err := r.await(ctx, func() string {
			switch {
			case r.last().Dead():
				return ""
			case r.doomed():
				return "the operator was hit by a fault and is about to die"
			}
			return cmp.Or(r.pending(), r.busy(generation))
		})
		if err != nil {
			return err
		}
		if !r.last().Dead() {
			if err := r.calm(ctx); err != nil {
				return err
			}
			if err := r.stays(ctx); err != nil {
				return err
			}
			if !r.last().Dead() && !r.doomed() && r.pending() == "" {
				return nil
			}
			continue
		}
		if err := r.succeed(ctx); err != nil {
			return err
		}
	}
}

// doomed reports whether a crash was injected into the operator: it stops shortly after its last write was observed.
func (r *failoverRun) doomed() bool {
	by := r.last().fault
	return r.last().Injected() && (by == lab.CrashBefore || by == lab.CrashAfter)
}

// pending returns what is still delayed or not observed: without it the object only seems to rest.
func (r *failoverRun) pending() string {
	switch {
	case r.ended.Load() == 0:
		return "the operator has not reconciled everything yet"
	case r.last().script.Pending():
		return "an event is held back"
	case r.last().Pending():
		return "an effect is held up"
	case r.outage.isLasting():
		return "an outage lasts"
	}
	return ""
}

// start starts an operator for this stage alone. Its caches start at the revision, if one is given, with the plans, if any.
func (s *stage) start(ctx context.Context, revision string, effect *lab.Plan, event *lab.EventPlan) (*operatorRun, error) {
	gate, script := lab.NewGate(), &lab.Script{Describe: describeEvent}
	gate.Follow(script)
	if event != nil {
		script.Arm(*event)
	}
	if revision != "" {
		gate.FreezeAllAt(revision)
	}
	s.ended.Store(0)
	operator, err := s.environment.operator(ctx, s.subject, []*stage{s}, gate, effect)
	return &operatorRun{Operator: operator, script: script}, err
}

// travelsFor is how long the next operator sees the past: longer than the second after which the runtime reads live.
const travelsFor = 1300 * time.Millisecond

// past returns the revision at that depth since the change.
func (s *stage) past(depth Depth, since uint64) string {
	revisions := []uint64{since}
	for _, e := range s.recorder.Since(since) {
		revisions = append(revisions, e.Revision)
	}
	return strconv.FormatUint(depth.of(revisions), 10)
}

// thaw updates the caches of an operator that started in the past, after travelsFor.
func (s *stage) thaw(ctx context.Context, o *lab.Operator, revision string) {
	if revision == "" {
		return
	}
	select {
	case <-time.After(travelsFor):
	case <-ctx.Done():
	}
	o.Gate.Thaw()
}
