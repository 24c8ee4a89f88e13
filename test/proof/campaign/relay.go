package campaign

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/detent-dev/detent/test/lab"
)

// relay is one operator after the other, each of which succeeds one that has died.
type relay struct {
	*stage
	plan Plan
	// since is the revision before the change.
	since  uint64
	shifts []*shift
	outage outageRun
}

// shift is one operator, and what it hears and meets.
type shift struct {
	*lab.Operator
	script *lab.Script
	fault  lab.Fault
}

func (r *relay) last() *shift { return r.shifts[len(r.shifts)-1] }

// fired says whether every fault of the plan struck.
func (r *relay) fired() bool {
	struck := func(s *shift) bool { return s.Struck() || s.script.Struck() }
	return struck(r.shifts[0]) && (r.plan.Then == nil || len(r.shifts) > 1 && struck(r.shifts[1]))
}

// begin with an operator to which nothing happens yet.
func (r *relay) begin(ctx context.Context) error {
	next, err := r.start(ctx, "", nil, nil)
	if err != nil {
		return err
	}
	next.fault = r.plan.fault().Fault
	r.shifts = append(r.shifts, next)
	return nil
}

// fault of a plan at an effect. Who was struck must have looked at everything once more before it rests: it may only seem to,
// while it waits to try again.
func (r *relay) fault(plan Plan) lab.Plan {
	out := plan.fault()
	out.Strikes = func() {
		r.ended.Store(0)
		r.outage.begin(r.stage, plan)
	}
	return out
}

// mishap of a plan at an event.
func (r *relay) mishap(plan Plan) lab.EventPlan {
	out := plan.mishap()
	out.Strikes = func() { r.outage.begin(r.stage, plan) }
	return out
}

// succeed the last operator, which has died: the first successor may begin in the past, and meet the second fault.
func (r *relay) succeed(ctx context.Context) error {
	if err := r.last().Kill(); err != nil {
		return err
	}
	var effect *lab.Plan
	var event *lab.EventPlan
	first, revision := len(r.shifts) == 1, ""
	if first && r.plan.Then != nil {
		effect, event = new(r.fault(*r.plan.Then)), new(r.mishap(*r.plan.Then))
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
	r.shifts = append(r.shifts, next)
	r.thaw(ctx, next.Operator, revision)
	return nil
}

// rest waits until the object rests in the generation or a later one, nothing is held back by a fault, nothing is left to be
// learned, and nothing is written any more. What strikes after that would strike at another change.
func (r *relay) rest(ctx context.Context, generation int64) error {
	for {
		err := r.await(ctx, func() string {
			switch {
			case r.last().Dead():
				return ""
			case r.doomed():
				return "the operator was struck and is about to die"
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

// doomed says whether the operator was struck by a crash: it dies a moment after what it wrote last was seen.
func (r *relay) doomed() bool {
	by := r.last().fault
	return r.last().Struck() && (by == lab.CrashBefore || by == lab.CrashAfter)
}

// pending says what is still held back, or to be looked at: who does not know it yet only seems to rest.
func (r *relay) pending() string {
	switch {
	case r.ended.Load() == 0:
		return "the operator has not looked at everything yet"
	case r.last().script.Pending():
		return "an event is held back"
	case r.last().Pending():
		return "an effect is held up"
	case r.outage.isLasting():
		return "an outage lasts"
	}
	return ""
}

// start an operator of this stage alone, whose caches begin at a revision if one is given, with plans from the beginning if there
// are any.
func (s *stage) start(ctx context.Context, revision string, effect *lab.Plan, event *lab.EventPlan) (*shift, error) {
	gate, script := lab.NewGate(), &lab.Script{Describe: describeEvent}
	gate.Follow(script)
	if event != nil {
		script.Arm(*event)
	}
	if revision != "" {
		gate.FreezeAllAt(revision)
	}
	s.ended.Store(0)
	operator, err := s.arena.operator(ctx, s.subject, []*stage{s}, gate, effect)
	return &shift{Operator: operator, script: script}, err
}

// travelsFor is how long a successor sees the past: longer than the second after which a barrier asks the server.
const travelsFor = 1300 * time.Millisecond

// past is the revision at that depth of what has happened since the change.
func (s *stage) past(depth Depth, since uint64) string {
	revisions := []uint64{since}
	for _, e := range s.tape.Since(since) {
		revisions = append(revisions, e.Revision)
	}
	return strconv.FormatUint(depth.of(revisions), 10)
}

// thaw the caches of an operator that began in the past, after a while.
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
