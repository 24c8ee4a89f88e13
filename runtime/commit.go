package runtime

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/states"
)

// projectionPause is the minimum time between two status writes that change only what is shown, such as waitingFor and
// messages.
const projectionPause = 10 * time.Second

// commit writes the transitions of this reconcile, with waitingFor and the conditions, in one status write. Events, metrics and
// the log line follow the write. decided means that every lifecycle has evaluated the object's generation once these
// transitions are taken. It requeues the object.
func (p *reconcileScope[O, S, E]) commit(ctx context.Context, snapshot S, moved []pass.Moved, decided bool) (time.Duration, error) {
	next := p.copy()
	for i := range moved {
		put(next.LifecycleStatus(), moved[i].Entry)
	}
	p.refresh(ctx, next, snapshot, decided)
	if err := p.write(ctx, next); err != nil {
		return 0, err
	}
	p.memory.shown = p.now
	for i := range moved {
		p.memory.moved = moved[i].Lifecycle
		p.spend(&moved[i])
		delete(p.memory.lifecycles, moved[i].Lifecycle)
		p.announce(ctx, next, &moved[i])
		p.took(&moved[i])
	}
	p.measure(next, false)
	// The watch event of this write enqueues the object as well. The requeue does not depend on the watch.
	return freshnessRequeue, nil
}

// show writes the status of lifecycles that took no transition, if it changed. A change of waitingFor, of the progress or of a
// message is written at most every ten seconds. A change of a condition's status or of the observed generation is written at
// once.
func (p *reconcileScope[O, S, E]) show(ctx context.Context, step *pass.Step[O, S, E]) error {
	next := p.copy()
	status := next.LifecycleStatus()
	for i := range step.Results {
		s := &step.Results[i]
		if shown := s.Project(); shown != nil {
			p.trouble(shown)
			put(status, *shown)
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
		if free := p.memory.shown.Add(projectionPause); p.now.Before(free) {
			p.requeue.at(free, p.now)
			return nil
		}
	}
	if err := p.write(ctx, next); err != nil {
		return err
	}
	p.memory.shown = p.now
	p.metrics.projected(p.kind.Name)
	return nil
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

// actionGuard is the guard name under which waitingFor shows why an action did not complete.
const actionGuard = "action"

// trouble replaces the action's entry in waitingFor by the last failure of the lifecycle's action, or removes the entry.
func (p *reconcileScope[O, S, E]) trouble(entry *lifecyclev1.Lifecycle) {
	t := p.memory.lifecycles[entry.Name]
	none := t == nil || t.last == nil
	isAction := func(w lifecyclev1.WaitingFor) bool { return w.Guard == actionGuard }
	if none && !slices.ContainsFunc(entry.WaitingFor, isAction) {
		return
	}
	waiting := slices.DeleteFunc(slices.Clone(entry.WaitingFor), isAction)
	if !none {
		const most, longest = 8, 512
		waiting = waiting[:min(len(waiting), most-1)]
		waiting = append(waiting, lifecyclev1.WaitingFor{Guard: actionGuard, Expected: "the action to succeed", Observed: machines.Cut(t.last.Error(), longest)})
	}
	entry.WaitingFor = waiting
}

// copy returns a copy of the object to change. Of several entries with one name, which the API server permits, only the first is
// ever evaluated; the copy has no other.
func (p *reconcileScope[O, S, E]) copy() O {
	next, _ := p.object.DeepCopyObject().(O)
	status := next.LifecycleStatus()
	if len(status.Lifecycles) > 1 {
		seen := make(map[string]bool, len(status.Lifecycles))
		status.Lifecycles = slices.DeleteFunc(status.Lifecycles, func(entry lifecyclev1.Lifecycle) bool {
			again := seen[entry.Name]
			seen[entry.Name] = true
			return again
		})
	}
	return next
}

// refresh computes all status fields that follow from the lifecycle entries and the snapshot: the observed generation, the
// conditions and the summary.
func (p *reconcileScope[O, S, E]) refresh(ctx context.Context, next O, snapshot S, decided bool) {
	status := next.LifecycleStatus()
	status.Lifecycles = slices.DeleteFunc(status.Lifecycles, func(e lifecyclev1.Lifecycle) bool { return slices.Contains(p.dropped, e.Name) })
	fold(status.Lifecycles)
	if decided {
		status.ObservedGeneration = p.in.Generation
	}
	own := p.deletingCondition(p.childrenWarning(p.project(ctx, next, snapshot)))
	all := p.lifecycleStates(next)
	if sortEntries(status.Lifecycles, all) {
		all = p.lifecycleStates(next)
	}
	status.Conditions = conditions(all, own, p.in.Status.Conditions, p.in.Generation, status.ObservedGeneration, p.now)
	status.Summary = summarise(all)
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

// write updates the status with an optimistic lock on the resourceVersion that this reconcile decided on.
func (p *reconcileScope[O, S, E]) write(ctx context.Context, next O) error {
	sent, _ := next.DeepCopyObject().(O) // the response is decoded into next
	err := p.client.Status().Update(ctx, next)
	if err == nil {
		p.memory.own, err = revision(next)
		p.memory.forget(p.dropped)
		p.memory.staleSince, p.memory.refusal = time.Time{}, refusal{}
		p.compareStored(ctx, sent, next)
		return err
	}
	// The outcome of the write is unknown: the next action requires a live read.
	p.memory.own = 0
	switch {
	case apierrors.IsConflict(err), ctx.Err() != nil:
	case apierrors.IsNotFound(err) && p.gone(ctx, p.object):
		err = errGone
	default:
		p.refused(next, err)
	}
	return fmt.Errorf("writing the status of %s %s: %w", p.kind.Name, p.key(), err)
}

func put(status *lifecyclev1.Status, entry lifecyclev1.Lifecycle) {
	for i := range status.Lifecycles {
		if status.Lifecycles[i].Name == entry.Name {
			status.Lifecycles[i] = entry
			return
		}
	}
	status.Lifecycles = append(status.Lifecycles, entry)
}

func (p *reconcileScope[O, S, E]) lifecycleStates(object O) []lifecycleState {
	all := lifecycleStates(p.lifecycles, object.LifecycleStatus())
	for i := range all {
		all[i].defect = p.memory.lifecycles[all[i].name].defect()
		all[i].tooFrequent = p.memory.paces[all[i].name].isExceeded()
	}
	worstInstanceFirst(all, p.now)
	return all
}
