package planning

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/simulator/kubelet"
)

// rollOut completes the rollout of a Deployment.
func (s *simulation) rollOut(ctx context.Context, name types.NamespacedName) (reconcile.Result, error) {
	d := &appsv1.Deployment{}
	if err := s.env.Client.Get(ctx, name, d); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !kubelet.RollOut(d, s.system) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, s.env.Client.Status().Update(ctx, d)
}

// sync lets the kubelet advance one pod.
func (s *simulation) sync(ctx context.Context, name types.NamespacedName) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := s.env.Client.Get(ctx, name, pod); apierrors.IsNotFound(err) {
		s.system.Gone(name)
		return reconcile.Result{}, nil
	} else if err != nil {
		return reconcile.Result{}, err
	}
	if pod.Annotations[kubelet.Elsewhere] != "" {
		return reconcile.Result{}, nil
	}
	if s.frozen[pod.UID] {
		return reconcile.Result{}, s.thaw(pod)
	}
	mounts, err := kubelet.MountsOf(ctx, s.env.Client, pod)
	if err != nil {
		return reconcile.Result{}, err
	}
	step, _ := s.system.Pods().Find(name)
	out := s.system.Sync(pod, mounts, []kubelet.Node{{Name: nodeName}})
	if after, _ := s.system.Pods().Find(name); after.Step != step.Step {
		s.watching = s.env.Clock.Now().Add(noticed)
	}
	if err := s.apply(ctx, pod, &out); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: s.again(name, out.Next)}, nil
}

// again returns the delay until the next sync of a pod. A ready process is synced only while events may affect it.
func (s *simulation) again(name types.NamespacedName, next int64) time.Duration {
	p, known := s.system.Pods().Find(name)
	if next == 0 || known && p.Step == kubelet.Running && p.Ready && s.env.Clock.Now().After(s.watching) {
		return 0
	}
	return max(s.system.Timeline.Time(next).Sub(s.env.Clock.Now()), time.Millisecond)
}

func (s *simulation) apply(ctx context.Context, pod *corev1.Pod, out *kubelet.Outcome) error {
	if out.Status != nil {
		pod = pod.DeepCopy()
		pod.Status = *out.Status
		if err := s.env.Client.Status().Update(ctx, pod); err != nil {
			return err
		}
	}
	if out.Bind != "" {
		pod = pod.DeepCopy()
		pod.Spec.NodeName = out.Bind
		if err := s.env.Client.Update(ctx, pod); err != nil {
			return err
		}
	}
	if out.Remove {
		return s.remove(pod)
	}
	return nil
}

// remove deletes a pod that has stopped from the store.
func (s *simulation) remove(pod *corev1.Pod) error {
	if err := s.env.Store.Remove(pod); err != nil {
		return err
	}
	s.system.Gone(client.ObjectKeyFromObject(pod))
	s.env.Removed(pod)
	return nil
}

// thaw deletes a frozen pod once it has a deletion timestamp. Until then the pod keeps the state of the input.
func (s *simulation) thaw(pod *corev1.Pod) error {
	if pod.DeletionTimestamp == nil {
		return nil
	}
	return s.remove(pod)
}
