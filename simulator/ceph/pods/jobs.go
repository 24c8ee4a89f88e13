package pods

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// job runs the pod of a Job that needs an image: to detect its version, or to pull it. It fails when its time is over.
func (w *World) job(ctx context.Context, j *batchv1.Job, pods []corev1.Pod, now time.Time) error {
	at := slices.IndexFunc(pods, func(p corev1.Pod) bool { return metav1.IsControlledBy(&p, j) })
	switch {
	case at < 0 && w.Refused != nil && w.Refused(j):
		return w.jobFails(ctx, j, now)
	case at < 0:
		return w.Client.Create(ctx, w.pod(j, "Job", &j.Spec.Template, ""))
	}
	p := &pods[at]
	version, pulled := w.pulled(p)
	unscheduled := w.Unscheduled != nil && w.Unscheduled(p)
	switch {
	case len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Terminated != nil:
		return nil
	case pulled && !unscheduled:
		text := "not found"
		if !version.IsZero() {
			text = fmt.Sprintf("ceph version %s (%s) simulated (stable)\n", version, version.Commit)
		}
		p.Status.Phase = corev1.PodSucceeded
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: p.Spec.Containers[0].Name, ImageID: p.Spec.Containers[0].Image + "@sha256:" + cmp.Or(w.Digests[p.Spec.Containers[0].Image], strings.Repeat("5", 64)),
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: text}},
		}}
		return w.Client.Status().Update(ctx, p)
	}
	waits := w.unscheduled
	if !unscheduled {
		waits = func(ctx context.Context, p *corev1.Pod) error { return w.waits(ctx, p, "ImagePullBackOff") }
	}
	if err := waits(ctx, p); err != nil {
		return err
	}
	return w.jobFails(ctx, j, now)
}

// jobFails lets a Job fail once its time is over.
func (w *World) jobFails(ctx context.Context, j *batchv1.Job, now time.Time) error {
	limit := j.Spec.ActiveDeadlineSeconds
	if limit == nil || now.Sub(j.CreationTimestamp.Time) < time.Duration(*limit)*time.Second || len(j.Status.Conditions) > 0 {
		return nil
	}
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonDeadlineExceeded}}
	return w.Client.Status().Update(ctx, j)
}
