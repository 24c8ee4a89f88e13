package pods

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// format makes lost data again if the record of the cluster permits that, and reports otherwise what the init container of the pod found.
func (w *World) format(ctx context.Context, p *corev1.Pod, now time.Time) (made bool, err error) {
	d, r := daemonOf(p), &corev1.ConfigMap{}
	if err := w.Client.Get(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Name + "-record"}, r); err != nil {
		return false, err
	}
	if r.Data["format."+d.String()] == "allowed" {
		delete(w.Empty, d)
		p.Status.InitContainerStatuses = nil
		return true, nil
	}
	w.waiting = true
	if len(p.Status.InitContainerStatuses) > 0 {
		return false, nil
	}
	p.Status.Phase = corev1.PodPending
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name:  p.Spec.InitContainers[len(p.Spec.InitContainers)-1].Name,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 64, Message: "StorageLost: the data of " + d.String() + " is gone\n", FinishedAt: metav1.NewTime(now),
		}},
	}}
	return false, w.Client.Status().Update(ctx, p)
}
