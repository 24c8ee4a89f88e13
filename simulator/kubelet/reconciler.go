package kubelet

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// World holds the Pods and their Host and knows the time. It is safe for concurrent use.
type World interface {
	// NeedsMounts calls Pods.NeedsMounts.
	NeedsMounts(pod types.NamespacedName, uid types.UID) bool
	// SyncPod calls Pods.Sync at the current time.
	SyncPod(pod *corev1.Pod, mounts Mounts, nodes []Node) Outcome
	// PodGone calls Pods.Gone at the current time.
	PodGone(pod types.NamespacedName)
	// DiskGone deletes the data on the volume of a claim that was removed.
	DiskGone(claim types.UID)
	// Until is the time on the wall clock until the simulated time ms, 0 if it has passed.
	Until(ms int64) time.Duration
}

// Reconciler acts as scheduler and kubelet for every pod of a real API server.
type Reconciler struct {
	client client.Client
	live   client.Reader
	world  World
	events events.EventRecorder
}

// Elsewhere is an annotation on pods that another simulation runs: the kubelets leave them alone.
const Elsewhere = "simulated/elsewhere"

// SetupWithManager registers the simulated kubelets and the provisioner of their volumes with a manager. They handle every
// pod in the manager's cache that is not run elsewhere.
func SetupWithManager(mgr ctrl.Manager, world World) error {
	r := &Reconciler{client: mgr.GetClient(), live: mgr.GetAPIReader(), world: world, events: mgr.GetEventRecorder("kubelet")}
	skip := true // several managers may run in one process
	options := controller.Options{MaxConcurrentReconciles: 4, SkipNameValidation: &skip}
	err := ctrl.NewControllerManagedBy(mgr).Named("kubelet").For(&corev1.Pod{}).WithOptions(options).Complete(r)
	if err != nil {
		return fmt.Errorf("registering the simulated kubelets: %w", err)
	}
	claims := &provisioner{client: mgr.GetClient(), live: mgr.GetAPIReader(), world: world}
	err = ctrl.NewControllerManagedBy(mgr).Named("provisioner").WithOptions(options).
		For(&corev1.PersistentVolumeClaim{}, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).Complete(claims)
	if err != nil {
		return fmt.Errorf("registering the simulated volumes: %w", err)
	}
	registry, _ := world.(Registry)
	rollouts := &deployments{client: mgr.GetClient(), registry: registry}
	if err := ctrl.NewControllerManagedBy(mgr).Named("deployments").For(&appsv1.Deployment{}).WithOptions(options).Complete(rollouts); err != nil {
		return fmt.Errorf("registering the simulated Deployments: %w", err)
	}
	return nil
}

// Reconcile advances one pod and writes its new state. It requeues when the pod's next step is due, and on a conflict.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := r.client.Get(ctx, request.NamespacedName, pod); err != nil {
		if apierrors.IsNotFound(err) {
			r.world.PodGone(request.NamespacedName)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("reading pod %s: %w", request, err)
	}
	if pod.Annotations[Elsewhere] != "" {
		return reconcile.Result{}, nil
	}
	outcome, err := r.sync(ctx, pod)
	if err != nil {
		return reconcile.Result{}, err
	}
	switch err := r.write(ctx, pod, &outcome); {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		//  Another client has written, or the cache has not observed our own write. Retry soon.
		return reconcile.Result{RequeueAfter: behind}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("writing pod %s: %w", request, err)
	}
	if outcome.Next == 0 {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: max(r.world.Until(outcome.Next), time.Millisecond)}, nil
}

// behind is how long Reconcile waits for a stale cache to catch up.
const behind = 20 * time.Millisecond

func (r *Reconciler) sync(ctx context.Context, pod *corev1.Pod) (Outcome, error) {
	var mounts Mounts
	if r.world.NeedsMounts(client.ObjectKeyFromObject(pod), pod.UID) {
		var err error
		if mounts, err = MountsOf(ctx, r.live, pod); err != nil {
			return Outcome{}, err
		}
	}
	nodes, err := r.nodesFor(ctx, pod)
	if err != nil {
		return Outcome{}, err
	}
	return r.world.SyncPod(pod, mounts, nodes), nil
}

// nodesFor returns the nodes that are relevant to a pod: its own, or all if it is not bound.
func (r *Reconciler) nodesFor(ctx context.Context, pod *corev1.Pod) ([]Node, error) {
	if pod.Spec.NodeName != "" {
		own := &corev1.Node{}
		err := r.client.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, own)
		if err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		return []Node{nodeOf(own)}, nil
	}
	list := &corev1.NodeList{}
	if err := r.client.List(ctx, list); err != nil {
		return nil, fmt.Errorf("listing nodes for pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	nodes := make([]Node, 0, len(list.Items))
	for i := range list.Items {
		nodes = append(nodes, nodeOf(&list.Items[i]))
	}
	return nodes, nil
}

func (r *Reconciler) write(ctx context.Context, pod *corev1.Pod, outcome *Outcome) error {
	for _, e := range outcome.Events {
		r.events.Eventf(pod, nil, e.Type, e.Reason, e.Reason, "%s", e.Message)
	}
	if outcome.Status != nil {
		next := pod.DeepCopy()
		next.Status = *outcome.Status
		if err := r.client.Status().Update(ctx, next); err != nil { // fails with a conflict for any other resourceVersion
			return err
		}
	}
	if outcome.Bind != "" {
		binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: outcome.Bind}}
		if err := r.client.SubResource("binding").Create(ctx, pod, binding); err != nil {
			return err
		}
	}
	if outcome.Remove {
		return r.client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
	}
	return nil
}
