package runtime

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
	"github.com/detent-dev/detent/transitions"
)

// projectionPause is the minimum time between two status writes that change only what is shown, such as waitingFor and
// messages.
const projectionPause = 10 * time.Second

// show writes the status of lifecycles that took no transition, if it changed. A change of waitingFor, of the progress or of a
// message is written at most every ten seconds. A change of a condition's status or of the observed generation is written at
// once, and so is a problem that a lifecycle did not have since its last transition.
func (p *reconcileScope[O, S, E]) show(ctx context.Context, step *pass.Step[O, S, E]) error {
	next := p.copy()
	status := next.LifecycleStatus()
	entries := pass.EntriesOf(status)
	for i := range step.Results {
		s := &step.Results[i]
		if shown := s.Project(); shown != nil {
			p.trouble(shown)
			put(status, entries, *shown)
			if shown.UnknownSince != nil {
				p.requeue.after(p.scaled(states.DefaultPoll))
			}
		}
	}
	p.refresh(ctx, next, step.Snapshot, step.Decided)
	same := p.statusEqual(next)
	p.measure(next, same)
	if same {
		return nil
	}
	if !urgent(p.in.Status, status) {
		if free := p.memory.shown.Add(projectionPause); p.now.Before(free) && !p.discloses(step, status) {
			p.requeue.at(free, p.now)
			return nil
		}
	}
	if err := p.write(ctx, next); err != nil {
		return err
	}
	p.memory.shown = p.now
	p.disclosed(step)
	p.metrics.projected(p.kind.Name)
	return nil
}

// discloses reports whether the status would show a problem that was not shown since the last transition of its lifecycle. A problem that
// comes and goes is therefore written at once only the first time.
func (p *reconcileScope[O, S, E]) discloses(step *pass.Step[O, S, E], next *lifecyclev1.Status) bool {
	for i := range step.Results {
		s := &step.Results[i]
		shown := pass.Entry(next, s.Name)
		if s.Entry == nil || shown == nil || slices.Equal(s.Entry.WaitingFor, shown.WaitingFor) {
			continue
		}
		for _, reason := range s.Problems() {
			if !slices.Contains(p.memory.disclosed[s.Name], reason) {
				return true
			}
		}
	}
	return false
}

// disclosed remembers the problems that the status shows.
func (p *reconcileScope[O, S, E]) disclosed(step *pass.Step[O, S, E]) {
	for i := range step.Results {
		s := &step.Results[i]
		if s.Entry == nil {
			continue
		}
		for _, reason := range s.Problems() {
			if slices.Contains(p.memory.disclosed[s.Name], reason) {
				continue
			}
			if p.memory.disclosed == nil {
				p.memory.disclosed = map[string][]transitions.Reason{}
			}
			p.memory.disclosed[s.Name] = append(p.memory.disclosed[s.Name], reason)
		}
	}
}

// measure sets the gauges, unless they already show the stored status and the status does not change.
func (p *reconcileScope[O, S, E]) measure(next O, same bool) {
	stored := p.object.GetResourceVersion()
	if p.metrics == nil || same && p.memory.measured == stored {
		return
	}
	p.metrics.show(p.memory, p.kind.Name, next, p.lifecycleStates(next))
	p.memory.measured = ""
	if same {
		p.memory.measured = stored
	}
}

// ActionGuard is the guard name under which waitingFor shows why an action did not complete.
const ActionGuard = "action"

// trouble replaces the action's entry in waitingFor by the last failure of the lifecycle's action, or removes the entry.
func (p *reconcileScope[O, S, E]) trouble(entry *lifecyclev1.Lifecycle) {
	t := p.memory.lifecycles[entry.Name]
	none := t == nil || t.last == nil
	isAction := func(w lifecyclev1.WaitingFor) bool { return w.Guard == ActionGuard }
	if none && !slices.ContainsFunc(entry.WaitingFor, isAction) {
		return
	}
	waiting := slices.DeleteFunc(slices.Clone(entry.WaitingFor), isAction)
	if !none {
		const most, longest = 8, 512
		waiting = waiting[:min(len(waiting), most-1)]
		waiting = append(waiting, lifecyclev1.WaitingFor{Guard: ActionGuard, Expected: "the action to succeed", Observed: machines.Cut(t.last.Error(), longest)})
	}
	entry.WaitingFor = waiting
}

// statusEqual reports whether a write of next would change nothing.
func (p *reconcileScope[O, S, E]) statusEqual(next O) bool {
	if p.kind.StatusEqual != nil {
		return p.in.Status.Equal(next.LifecycleStatus()) && p.kind.StatusEqual(p.object, next)
	}
	return equality.Semantic.DeepEqual(p.object, next)
}

// urgent reports whether the change is written at once rather than at most every projectionPause.
func urgent(old, next *lifecyclev1.Status) bool {
	if old.ObservedGeneration != next.ObservedGeneration || len(old.Conditions) != len(next.Conditions) {
		return true
	}
	for i := range old.Conditions {
		a, b := &old.Conditions[i], &next.Conditions[i]
		if a.Type != b.Type || a.Status != b.Status || a.Type == Warning && a.Reason != b.Reason {
			return true
		}
	}
	return false
}
