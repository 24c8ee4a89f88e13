package pods

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// again is how long after a step the next one follows without an event if something waits that may go on by itself.
const again = time.Second

// SetupWithManager runs the pods of several clusters with a manager. find returns the World of a Cluster at the present time, nil if its
// pods are not run. It is called before each step, and may be called by several goroutines.
func SetupWithManager(mgr ctrl.Manager, clk clock.PassiveClock, find func(cluster types.NamespacedName) *World) error {
	skip := true // several managers may run in one process
	cluster := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		name := o.GetLabels()[labelCluster]
		if name == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
	})
	b := ctrl.NewControllerManagedBy(mgr).Named("ceph-pods").WithOptions(controller.Options{MaxConcurrentReconciles: 4, SkipNameValidation: &skip})
	for _, o := range []client.Object{&appsv1.Deployment{}, &batchv1.Job{}, &corev1.Pod{}, &corev1.Service{}} {
		b = b.Watches(o, cluster)
	}
	err := b.Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		w := find(r.NamespacedName)
		if w == nil {
			return reconcile.Result{}, nil
		}
		if err := w.Step(ctx, clk.Now()); err != nil || !w.waiting {
			return reconcile.Result{}, err
		}
		return reconcile.Result{RequeueAfter: again}, nil
	}))
	if err != nil {
		return fmt.Errorf("registering the pods of simulated Ceph clusters: %w", err)
	}
	return nil
}
