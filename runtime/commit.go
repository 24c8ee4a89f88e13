package runtime

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/internal/pass"
	"github.com/detent-dev/detent/machines"
)

// commit writes the transitions of this reconcile, with waitingFor and the conditions, in one status write. Events, metrics and
// the log line follow the write. decided means that every lifecycle has evaluated the object's generation once these
// transitions are taken. It requeues the object.
func (p *reconcileScope[O, S, E]) commit(ctx context.Context, snapshot S, moved []pass.Moved, decided bool) (time.Duration, error) {
	if err := p.notBehind(ctx); err != nil {
		return 0, err
	}
	next := p.copy()
	status := next.LifecycleStatus()
	entries := pass.EntriesOf(status)
	for i := range moved {
		put(status, entries, moved[i].Entry)
		if moved[i].Move.Event == machines.EventInferred && moved[i].Move.From != "" {
			// The generation was observed in a state that this build does not know. Whether the inferred one fits it is only known
			// once its guards were evaluated: until then the object must not be Ready.
			status.ObservedGeneration = 0
		}
	}
	if decided {
		p.applyBefore(ctx, next, snapshot)
	}
	p.refresh(ctx, next, snapshot, decided)
	if err := p.write(ctx, next); err != nil {
		return 0, err
	}
	p.committed, p.stored = true, next
	p.memory.shown = p.now
	for i := range moved {
		p.memory.moved = moved[i].Lifecycle
		p.spend(&moved[i])
		delete(p.memory.lifecycles, moved[i].Lifecycle)
		delete(p.memory.disclosed, moved[i].Lifecycle)
		p.announce(ctx, next, &moved[i])
		p.took(&moved[i])
	}
	p.measure(next, false)
	// The watch event of this write enqueues the object as well. The requeue does not depend on the watch.
	return freshnessRequeue, nil
}

// notBehind returns ErrStale while the object is known to be older than our last write: a write of its status would only conflict.
// Unlike proven it requires no live read while no such write is known.
func (p *reconcileScope[O, S, E]) notBehind(ctx context.Context) error {
	if p.memory.own == 0 {
		return nil
	}
	return p.proven(ctx, false)
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
	own := p.deletingCondition(p.childrenConditions(p.project(ctx, next, snapshot)))
	all := p.lifecycleStates(next)
	if sortEntries(status.Lifecycles, all) {
		all = p.lifecycleStates(next)
	}
	status.Conditions = conditions(all, own, p.in.Status.Conditions, p.in.Generation, status.ObservedGeneration, p.now)
	status.Summary = summarise(all, status.Summary)
}

// write updates the status with an optimistic lock on the resourceVersion that this reconcile decided on.
func (p *reconcileScope[O, S, E]) write(ctx context.Context, next O) error {
	sent, _ := next.DeepCopyObject().(O) // the response is decoded into next
	err := p.client.Status().Update(ctx, next)
	if err == nil {
		p.memory.own, err = revision(next)
		p.memory.forget(p.dropped)
		p.memory.staleSince, p.memory.refusal = time.Time{}, nil
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

// put replaces the entry of the lifecycle, or appends it. entries are those of the status.
func put(status *lifecyclev1.Status, entries pass.Entries, entry lifecyclev1.Lifecycle) {
	if old := entries.Find(entry.Name); old != nil {
		*old = entry
		return
	}
	status.Lifecycles = append(status.Lifecycles, entry)
}

func (p *reconcileScope[O, S, E]) lifecycleStates(object O) []lifecycleState {
	all := lifecycleStates(p.lifecycles, object.LifecycleStatus())
	for i := range all {
		all[i].defect = p.memory.lifecycles[all[i].name].defect()
		if t := p.memory.lifecycles[all[i].name]; t != nil {
			all[i].unlisted = t.unlisted
		}
		all[i].tooFrequent = p.memory.paces[all[i].name].isExceeded()
	}
	worstInstanceFirst(all, p.now)
	return all
}
