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
// while the running pod still exists. The dry run has a generated name, because the pod's name is taken. made is the entry from which the
// running pod was created, or the pod itself.
func (t *scope) dryRun(ctx context.Context, running, made *corev1.Pod, entry *render.Entry) error {
	pod, err := entry.Pod()
	if err != nil {
		return err
	}
	scoped := sameScopes(pod, made)
	pod.Namespace, pod.GenerateName, pod.Name = running.Namespace, pod.Name+"-", ""
	pod.OwnerReferences = nil
	trial := pod.DeepCopy()
	switch err := t.write.DryRun(ctx, trial); {
	case dryRunUnsupported(err), scoped && overQuota(err) && makesRoom(err, running, pod):
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
