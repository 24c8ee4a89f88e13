package kafka

import (
	"context"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/detent-dev/detent/controllers/kafka/render"
)

// rehearse asks the API server whether it would take the pod that is to follow a running one: schema, LimitRange, quota, Pod
// Security and webhooks have their say while there is still something to keep. The trial has a name of its own, since the pod's is
// taken.
func (t *tending) rehearse(ctx context.Context, running *corev1.Pod, entry *render.Entry) error {
	pod, err := entry.Pod()
	if err != nil {
		return err
	}
	pod.Namespace, pod.GenerateName, pod.Name = running.Namespace, pod.Name+"-", ""
	pod.OwnerReferences = nil
	trial := pod.DeepCopy()
	switch err := t.write.Try(ctx, trial); {
	case unrehearsable(err), overQuota(err) && !needsMore(pod, running):
		return nil
	case err != nil:
		return steadied{err, running.Name}
	default:
		return nil
	}
}

// steadied is a refusal in the name of the pod that it is about, and not in the one that the API server made up for the trial:
// words that differ each time would be written to the status each time.
type steadied struct {
	error
	pod string
}

var trialName = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`)

// Error is the refusal in words that stay the same while its cause does.
func (s steadied) Error() string {
	text := s.error.Error()
	for _, found := range trialName.FindAllString(text, -1) {
		text = strings.ReplaceAll(text, s.pod+found, s.pod)
	}
	return text
}

// Unwrap gives the refusal itself.
func (s steadied) Unwrap() error { return s.error }

// unrehearsable says that a webhook takes no part in trials: what it would say of the pod is not known, and no reason to stay.
func unrehearsable(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run")
}

// overQuota says that only a quota stands against the pod. It still counts the one that runs.
func overQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}

// needsMore says whether a pod asks for more of anything than another, whose share of a quota it is to take over.
func needsMore(pod, than *corev1.Pod) bool {
	for _, of := range []func(*corev1.Container) corev1.ResourceList{
		func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests },
		func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits },
	} {
		has := sumOf(than, of)
		for name, wanted := range sumOf(pod, of) {
			if have := has[name]; wanted.Cmp(have) > 0 {
				return true
			}
		}
	}
	return false
}

func sumOf(pod *corev1.Pod, of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for i := range pod.Spec.Containers {
		for name, quantity := range of(&pod.Spec.Containers[i]) {
			total := sum[name]
			total.Add(quantity)
			sum[name] = total
		}
	}
	return sum
}
