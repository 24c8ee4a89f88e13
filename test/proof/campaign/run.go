package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/test/lab"
)

// Result of a run.
type Result struct {
	Plan Plan
	// Fired means that every fault of the plan was injected.
	Fired bool
	// Lost is why the object did not come to rest, or what could not be done.
	Lost string
	// End are all fields at the end, by object and path. Counts is how often each object was created and deleted.
	End    map[string]string
	Counts map[string]string
	// Outside are the effects on external systems in order. Wrong are the defects in them and in the history.
	Outside []string
	Wrong   []string
	Passes  int64
	Took    time.Duration
	// hop is the index of the subject's change; effects and events are the points that occurred.
	hop             int
	effects, events []lab.Point
}

// mustInject reports whether the fault of the plan has to be injected in some run.
func (r *Result) mustInject() bool { return r.Plan.Class != "" && r.Plan.Then == nil }

// run injects the faults of a plan while the object changes.
func (s *stage) run(ctx context.Context, plan Plan) *Result {
	within := s.subject.Within
	if within == 0 {
		within = 10 * time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("not at rest within %s", within))
	defer cancel()
	r := &Result{Plan: plan}
	begun := time.Now()
	since := s.recorder.newest()
	r.hop = s.changed
	s.world.Effects()
	s.world.Harm()
	s.world.Begin()
	if err := s.inject(ctx, plan, since, r); err != nil {
		r.Lost = err.Error()
	}
	r.Took = time.Since(begun)
	r.Passes = s.passes.Load()
	history := s.recorder.Since(since)
	r.Counts, r.End = counts(history), flatten(s.recorder.Latest(), s.subject.Masked)
	if s.subject.Incidental != nil {
		of := func(name, _ string) bool { return s.subject.Incidental.MatchString(name) }
		maps.DeleteFunc(r.Counts, of)
		maps.DeleteFunc(r.End, of)
	}
	r.Outside = s.world.Effects()
	r.Wrong = slices.Concat(s.world.Harm(), s.world.Judge(history), defective(history))
	r.Wrong = append(r.Wrong, s.judge(history)...)
	return r
}

// inject changes the object and waits until it rests, over all operators that follow a crash.
func (s *stage) inject(ctx context.Context, plan Plan, since uint64, r *Result) (err error) {
	all := &failoverRun{stage: s, plan: plan, since: since}
	if err := all.begin(ctx); err != nil {
		return err
	}
	first := all.last()
	defer func() {
		r.Fired, r.effects, r.events = all.fired(), points(first.Effects()), points(first.script.Heard())
		err = errors.Join(err, all.outage.end(), all.last().Kill())
	}()
	// Whether the operator has reconciled everything before the change or after it decides which statuses it writes.
	err = s.await(ctx, func() string {
		if s.ended.Load() == 0 {
			return "the operator has not reconciled everything yet"
		}
		return ""
	})
	if err != nil {
		return err
	}
	s.passes.Store(0)
	first.Arm(all.fault(plan))
	first.script.Arm(all.eventFault(plan))
	generation, err := s.change(ctx)
	if err != nil {
		return err
	}
	if plan.Class == Meddled {
		if err := s.meddle(ctx, plan, first.Operator, generation); err != nil {
			return err
		}
	}
	return all.rest(ctx, generation)
}

// change makes the next change as a user does, waits until it is shown, and returns the generation of the object.
func (s *stage) change(ctx context.Context) (int64, error) {
	var edited client.Object
	change := s.subject.Changes[s.changed]
	s.changed++
	err := retry.OnError(retry.DefaultBackoff, repeatable, func() error {
		edited = s.edited()
		if err := s.environment.Admin.Get(ctx, client.ObjectKeyFromObject(edited), edited); err != nil {
			return err
		}
		change(edited)
		return s.environment.Admin.Update(ctx, edited)
	})
	if err != nil {
		return 0, fmt.Errorf("making a change: %w", err)
	}
	err = s.await(ctx, func() string {
		if seen := s.recorder.Latest()[id(edited)]; seen == nil || seen.GetGeneration() < edited.GetGeneration() {
			return "the change was not shown yet"
		}
		return ""
	})
	if err != nil {
		return 0, err
	}
	return s.object().GetGeneration(), nil
}

// repeatable reports whether a user would try again: after a conflict, and after a connection that broke.
func repeatable(err error) bool {
	return apierrors.IsConflict(err) || apierrors.ReasonForError(err) == metav1.StatusReasonUnknown
}

// edited returns the object that the changes edit, by its name.
func (s *stage) edited() client.Object {
	if s.subject.Edited != nil {
		return s.subject.Edited(s.namespace)
	}
	return s.subject.Object(s.namespace)
}

// meddle intervenes as soon as the point was met.
func (s *stage) meddle(ctx context.Context, plan Plan, operator *lab.Operator, generation int64) error {
	err := s.await(ctx, func() string {
		if operator.Injected() || s.busy(generation) == "" {
			return ""
		}
		return "the point was not met"
	})
	if err != nil || !operator.Injected() {
		return err
	}
	return s.subject.Meddling[plan.Meddling](s.environment, s.namespace)
}

// afterthoughts is the number of writes that may follow the end of a run, such as the last observation.
const afterthoughts = 20

// stays waits until no write follows, and returns what is written repeatedly.
func (s *stage) stays(ctx context.Context) error {
	first := s.recorder.newest()
	for {
		newest := s.recorder.newest()
		select {
		case <-time.After(2 * quietFor):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if s.recorder.newest() == newest {
			return nil
		}
		late := s.recorder.Since(first)
		if len(late) > afterthoughts {
			what := map[string]int{}
			for _, e := range late {
				what[id(e.Object)]++
			}
			return fmt.Errorf("the run was over, and then this was written so many times: %v", what)
		}
	}
}

// defective returns the defects of kinds and machines that a status showed.
func defective(history []Event) (out []string) {
	for _, event := range history {
		if o, is := event.Object.(lifecycle.Object); is {
			if err := lab.Defect(o); err != nil {
				out = append(out, err.Error())
			}
		}
	}
	return slices.Compact(out)
}
