package manager

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/controllers/kafka/fleet"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// watchFleet reconciles the clusters that a change of another cluster frees a slot for.
func watchFleet(slots *fleet.Slots) func(*builder.Builder) {
	return func(b *builder.Builder) { b.Watches(&kafkav1beta2.Kafka{}, fleetHandler(slots)) }
}

func fleetHandler(slots *fleet.Slots) handler.Funcs {
	type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]
	changed := func(ctx context.Context, before, after client.Object, queue requests) {
		was, _ := before.(*kafkav1beta2.Kafka)
		is, _ := after.(*kafkav1beta2.Kafka)
		for _, next := range slots.Changed(ctx, was, is) {
			queue.Add(next)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue requests) { changed(ctx, nil, e.Object, queue) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue requests) {
			changed(ctx, e.ObjectOld, e.ObjectNew, queue)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue requests) { changed(ctx, e.Object, nil, queue) },
	}
}
