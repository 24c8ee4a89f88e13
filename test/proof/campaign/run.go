package campaign

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/test/lab"
)

// Result is what came of a run.
type Result struct {
	Plan Plan
	// Fired says that every fault of the plan struck.
	Fired bool
	// Lost says why the object never came to rest, or what could not be done.
	Lost string
	// End is every field in the end, by object and path; Counts how often each object was made and went.
	End    map[string]string
	Counts map[string]string
	// Effects on other systems in order, and what was wrong with them or with the history.
	Outside []string
	Wrong   []string
	Passes  int64
	Took    time.Duration
	// hop is which of the subject's changes was made, and these points were met.
	hop             int
	effects, events []lab.Point
}

// run lets a plan strike while the object changes.
func (s *stage) run(ctx context.Context, plan Plan) *Result {
	within := s.subject.Within
	if within == 0 {
		within = 10 * time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("not at rest within %s", within))
	defer cancel()
	r := &Result{Plan: plan}
	begun := time.Now()
	since := s.tape.newest()
	r.hop = s.changed
	s.world.Effects()
	s.world.Harm()
	if err := s.strike(ctx, plan, since, r); err != nil {
		r.Lost = err.Error()
	}
	r.Took = time.Since(begun)
	r.Passes = s.passes.Load()
	history := s.tape.Since(since)
	r.Counts = counts(history)
	r.End = flatten(s.tape.Latest())
	r.Outside = s.world.Effects()
	r.Wrong = append(s.world.Harm(), s.world.Judge(history)...)
	r.Wrong = append(r.Wrong, s.judge(history)...)
	return r
}

// strike changes the object and stays until it rests for good, whoever dies on the way.
func (s *stage) strike(ctx context.Context, plan Plan, since uint64, r *Result) (err error) {
	first, script, err := s.start(ctx, "", nil, nil)
	if err != nil {
		return err
	}
	current := first
	defer func() { err = errors.Join(err, current.Kill()) }()
	s.passes.Store(0)
	first.Arm(plan.fault())
	script.Arm(plan.mishap())
	generation, err := s.change(ctx)
	if err != nil {
		return err
	}
	if plan.Class == Meddled {
		if err := s.meddle(ctx, plan, first, generation); err != nil {
			return err
		}
	}
	err = s.await(ctx, func() string { return s.unlessDead(first, plan.fault().Fault, generation) })
	r.effects, r.events = points(first.Effects()), points(script.Heard())
	r.Fired = first.Struck() || script.Struck() // also where the run is lost by it
	if err != nil {
		return err
	}
	if current, err = s.carryOn(ctx, plan, first, script, since, r); err != nil {
		return err
	}
	if err := s.rest(ctx, generation); err != nil {
		return err
	}
	return s.stays(ctx)
}

// carryOn lets one operator after another succeed the one that has died, until one lives. What it returns must be killed.
func (s *stage) carryOn(ctx context.Context, plan Plan, first *lab.Operator, heard *lab.Script, since uint64, r *Result) (*lab.Operator, error) {
	current := first
	for n := 0; current.Dead(); n++ {
		if err := current.Kill(); err != nil {
			return current, err
		}
		var effect *lab.Plan
		var event *lab.EventPlan
		if plan.Then != nil && n == 0 {
			effect, event = new(plan.Then.fault()), new(plan.Then.mishap())
			effect.Met, event.Met = first.Met(), heard.Met()
		}
		revision := ""
		if plan.Class == Travelled && n == 0 {
			revision = s.past(plan.Depth, since)
		}
		next, script, err := s.start(ctx, revision, effect, event)
		if err != nil {
			return current, err
		}
		current = next
		s.thaw(ctx, next, revision)
		if effect == nil {
			continue
		}
		if err := s.await(ctx, func() string { return s.unlessDead(next, effect.Fault, 0) }); err != nil {
			return current, err
		}
		r.Fired = r.Fired && (next.Struck() || script.Struck())
	}
	return current, nil
}

// unlessDead says why the object does not rest, unless the operator is dead. One that was struck by a crash dies a moment after
// what it wrote last was seen.
func (s *stage) unlessDead(o *lab.Operator, by lab.Fault, generation int64) string {
	switch {
	case o.Dead():
		return ""
	case o.Struck() && (by == lab.CrashBefore || by == lab.CrashAfter):
		return "the operator was struck and is about to die"
	}
	return s.restless(generation)
}

// start an operator of this stage alone, whose caches begin at a revision if one is given, with plans from the beginning if there
// are any.
func (s *stage) start(ctx context.Context, revision string, effect *lab.Plan, event *lab.EventPlan) (*lab.Operator, *lab.Script, error) {
	gate, script := lab.NewGate(), &lab.Script{Describe: describeEvent}
	gate.Follow(script)
	if event != nil {
		script.Arm(*event)
	}
	if revision != "" {
		gate.FreezeAllAt(revision)
	}
	operator, err := s.arena.operator(ctx, s.subject, []*stage{s}, gate, effect)
	return operator, script, err
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

// change the object as a person does, and say which generation that made.
func (s *stage) change(ctx context.Context) (int64, error) {
	generation := int64(0)
	change := s.subject.Changes[s.changed]
	s.changed++
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		o := s.subject.Object(s.namespace)
		if err := s.arena.Admin.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		change(o)
		err := s.arena.Admin.Update(ctx, o)
		generation = o.GetGeneration()
		return err
	})
	return generation, err
}

// meddle as soon as the point was met.
func (s *stage) meddle(ctx context.Context, plan Plan, operator *lab.Operator, generation int64) error {
	err := s.await(ctx, func() string {
		if operator.Struck() || s.restless(generation) == "" {
			return ""
		}
		return "the point was not met"
	})
	if err != nil || !operator.Struck() {
		return err
	}
	return s.subject.Meddling[plan.Meddling](s.arena, s.namespace)
}

// afterthoughts are how many writes may follow once a run is over: what was learned last is still noted.
const afterthoughts = 20

// stays waits until nothing is written any more, and says what is written again and again.
func (s *stage) stays(ctx context.Context) error {
	first := s.tape.newest()
	for {
		newest := s.tape.newest()
		select {
		case <-time.After(2 * quietFor):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if s.tape.newest() == newest {
			return nil
		}
		late := s.tape.Since(first)
		if len(late) > afterthoughts {
			what := map[string]int{}
			for _, e := range late {
				what[id(e.Object)]++
			}
			return fmt.Errorf("the run was over, and then this was written so many times: %v", what)
		}
	}
}
