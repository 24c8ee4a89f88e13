package children

import (
	"context"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/detent-dev/detent/controllers/kafka/render"
)

// dryRun sends the new pod to the API server as a dry run: schema, LimitRange, quota, Pod Security and webhooks can reject it
// while the running pod still exists. The dry run has a generated name, because the pod's name is taken.
func (t *scope) dryRun(ctx context.Context, running *corev1.Pod, entry *render.Entry) error {
	pod, err := entry.Pod()
	if err != nil {
		return err
	}
	pod.Namespace, pod.GenerateName, pod.Name = running.Namespace, pod.Name+"-", ""
	pod.OwnerReferences = nil
	trial := pod.DeepCopy()
	switch err := t.write.DryRun(ctx, trial); {
	case dryRunUnsupported(err), overQuota(err) && !needsMore(pod, running):
		return nil
	case err != nil:
		return stableRefusal{err, running.Name}
	default:
		return nil
	}
}

// stableRefusal is a rejection with the name of the real pod instead of the generated one: a text that differs each time would be
// written to the status each time.
type stableRefusal struct {
	error
	pod string
}

// longestPrefix is how much of a generateName the API server keeps before the five characters that it generates. Source:
// k8s.io/apiserver/pkg/storage/names.
const longestPrefix = 58

// Error returns a text that changes only with its cause.
func (s stableRefusal) Error() string {
	prefix := s.pod + "-"
	prefix = prefix[:min(len(prefix), longestPrefix)]
	trial := regexp.MustCompile(regexp.QuoteMeta(prefix) + `[bcdfghjklmnpqrstvwxz2456789]{5}\b`)
	return trial.ReplaceAllLiteralString(s.error.Error(), s.pod)
}

// Unwrap returns the original error.
func (s stableRefusal) Unwrap() error { return s.error }

// dryRunUnsupported reports whether a webhook does not support dry runs. Its decision on the pod is unknown, which must not block a
// restart.
func dryRunUnsupported(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run")
}

// overQuota reports whether only a quota rejects the pod. The quota still counts the running pod.
func overQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}

// needsMore reports whether a pod requests more of any resource than another pod, whose share of a quota it takes over.
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
