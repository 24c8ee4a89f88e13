package pods

import (
	"context"
	"errors"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/simulator/ceph"
)

// run starts the daemon in a pod whose container has not started, and reports it.
func (w *World) run(ctx context.Context, p *corev1.Pod, now time.Time) error {
	d := daemonOf(p)
	if len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Running != nil {
		return nil
	}
	version, pulled := w.pulled(p)
	switch {
	case w.Unscheduled != nil && w.Unscheduled(p):
		return w.unscheduled(ctx, p)
	case !pulled:
		return w.waits(ctx, p, "ImagePullBackOff")
	case w.Broken != nil && w.Broken(d, p.Spec.Containers[0].Image):
		return w.waits(ctx, p, "CrashLoopBackOff")
	case w.Empty[d]:
		if made, err := w.format(ctx, p, now); err != nil || !made {
			return err
		}
	}
	if d.Type == "" { // it runs no daemon
		return w.started(ctx, p, now)
	}
	var err error
	w.Ceph.Do(func(c *ceph.Cluster) {
		if _, known := c.Daemon(d); !known && d.Type == cephclient.TypeOSD {
			err = &ceph.Died{Daemon: d, Words: "it was removed from the cluster"}
			return
		} else if !known {
			c.Add(d)
		}
		if err = c.Start(d, version, p.Name); err == nil {
			w.Started = append(w.Started, Start{d, version})
		}
	})
	if died := (*ceph.Died)(nil); errors.As(err, &died) {
		return w.waits(ctx, p, "CrashLoopBackOff")
	} else if err != nil {
		return err
	}
	return w.started(ctx, p, now)
}

// started reports that the container of a pod runs.
func (w *World) started(ctx context.Context, p *corev1.Pod, now time.Time) error {
	at := metav1.NewTime(now.Add(-w.Earlier))
	p.Status.Phase, p.Status.StartTime = corev1.PodRunning, &at
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}}}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}}
	return w.Client.Status().Update(ctx, p)
}

// pulled returns the version of a pod's image, with or without a digest, and false if the node cannot pull it.
func (w *World) pulled(p *corev1.Pod) (versions.Version, bool) {
	image := p.Spec.Containers[0].Image
	name, _, _ := strings.Cut(image, "@sha256:")
	v, known := w.Images[name]
	return v, known && (w.Unpulled == nil || !w.Unpulled(p.Spec.NodeName, name))
}

// unscheduled reports that no node has room for a pod.
func (w *World) unscheduled(ctx context.Context, p *corev1.Pod) error {
	if w.waiting = true; len(p.Status.Conditions) > 0 {
		return nil
	}
	p.Status.Phase = corev1.PodPending
	p.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available: 3 Insufficient memory.",
	}}
	return w.Client.Status().Update(ctx, p)
}

func (w *World) waits(ctx context.Context, p *corev1.Pod, reason string) error {
	w.waiting = true
	if len(p.Status.ContainerStatuses) > 0 {
		return nil
	}
	p.Status.Phase = corev1.PodPending
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
	return w.Client.Status().Update(ctx, p)
}
