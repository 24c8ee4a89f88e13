package scaledown

import (
	"context"
	"errors"
	"fmt"

	controller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/machinetest/explore"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// judgeUnregistration records harm if the operator requests to unregister a broker that may run or that the spec requests.
func (w *World) judgeUnregistration(at *explore.Scenario, id int32) {
	switch {
	case id == past:
		return
	case id < 0 || id >= nodes:
		w.hurt(fmt.Sprintf("broker %d, which does not exist, is asked to be unregistered", id))
		return
	}
	s := &sight{World: w, pods: podsOf(at), records: recordsOf(at)}
	switch pod := s.pods[id]; {
	case s.lives(id):
		w.hurt(fmt.Sprintf("broker %d is asked to be unregistered while its process runs", id))
	case pod != nil && servesAsBroker(pod):
		w.hurt(fmt.Sprintf("broker %d is asked to be unregistered while its pod exists", id))
	case s.records[id] != nil && !s.stopped(id) && !w.wanted.deleted:
		w.hurt(fmt.Sprintf("broker %d is asked to be unregistered although it was not stopped", id))
	}
}

// judgeStop records harm if the operator stops a broker that holds replicas or that the spec requests.
func (w *World) judgeStop(at *explore.Scenario, id int32) {
	s := &sight{World: w, records: recordsOf(at)}
	switch {
	case w.holds(id) > 0:
		w.hurt(fmt.Sprintf("broker %d is stopped while it holds replicas", id))
	case !s.goes(id):
		w.hurt(fmt.Sprintf("broker %d is stopped although the spec requests it", id))
	}
}

// judgeEnd records harm if the operator ends a drain and leaves the cordon of a broker that could lift it. The cordon of another one is
// left, and is a Warning.
func (w *World) judgeEnd(id int32) {
	n := &w.nodes[id]
	switch {
	case !n.cordoned:
	case n.runs() && !n.cut:
		w.hurt(fmt.Sprintf("the drain of broker %d ends, and its cordon is left although it runs", id))
	default:
		n.abandoned = true
	}
}

// judgeRaise records harm if the operator requests a higher level while a broker that is gone is registered.
func (w *World) judgeRaise(at *explore.Scenario) {
	if w.raiseTo <= w.level {
		return
	}
	s := &sight{World: w, pods: podsOf(at), records: recordsOf(at)}
	for id := range int32(nodes) {
		gone := s.records[id] == nil || s.stopped(id)
		if gone && w.nodes[id].registered && !(s.pods[id] != nil && servesAsBroker(s.pods[id])) {
			w.hurt(fmt.Sprintf("the level is asked to be raised while broker %d, which is gone, is registered", id))
		}
	}
	if w.past.registered {
		w.hurt("the level is asked to be raised while a broker of the past is registered")
	}
}

// watched wraps the kind, so that what it does is judged by the world.
func watched(at *explore.Scenario, kind controller.Kind) controller.Kind {
	execute, apply := kind.Execute, kind.Apply
	kind.Execute = func(ctx context.Context, t lifecycle.EffectRequest[*kafkav1beta2.Kafka, *observation.Snapshot, controller.Effect]) error {
		removal := t.Effect.Removal
		if removal == nil {
			return execute(ctx, t)
		}
		w := of(at)
		if removal.Stop != nil {
			w.judgeStop(at, *removal.Stop)
		}
		if removal.EndDrain != nil {
			w.judgeEnd(*removal.EndDrain)
		}
		if id := removal.Release; id != nil && w.nodes[*id].registered {
			w.hurt(fmt.Sprintf("node %d is released while its broker is registered", *id))
		}
		return execute(ctx, t)
	}
	kind.Apply = func(ctx context.Context, k *kafkav1beta2.Kafka, v *observation.Snapshot, write lifecycle.Writer) error {
		before := recordsOf(at)
		err := apply(ctx, k, v, write)
		w := of(at)
		for id, m := range recordsOf(at) {
			if before[id] == nil && m != nil && m.Data[record.KeyFormat] == string(record.FormatAllowed) && w.nodes[id].registered {
				w.hurt(fmt.Sprintf("id %d is given to a new node while an earlier one is registered", id))
			}
		}
		return err
	}
	return kind
}

// harmOf returns the first damage.
func harmOf(w explore.World) error {
	if k, ok := w.(*World); ok && k.harm != "" {
		return errors.New(k.harm)
	}
	return nil
}

// settled returns what is wrong with a cluster that is Ready and at rest: every registration is one that the pools request.
func settled(w explore.World) error {
	k, ok := w.(*World)
	if !ok {
		return nil
	}
	registered, wanted := 0, k.wanted.workers
	for i := range k.nodes {
		if k.nodes[i].registered {
			registered++
		}
		if k.nodes[i].cordoned && !k.nodes[i].abandoned {
			return fmt.Errorf("the cluster shows as ready at rest, and broker %d is cordoned", i)
		}
	}
	if k.wanted.dual {
		wanted++
	}
	if registered != wanted || k.listsFenced && k.past.registered {
		return fmt.Errorf("the cluster shows as ready at rest, wants %d brokers, and %d are registered; one of the past: %v", wanted, registered, k.past.registered)
	}
	return nil
}
