package children

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
)

// overQuota reports whether only a quota rejects the pod. The quota still counts the running pod. Its error has the reason Forbidden, as that
// of any admission, so that only the text tells it from others.
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

// sameScopes reports whether two pods count against the same quotas: a quota may apply to one priority class only, or only to pods with or
// without requests.
func sameScopes(a, b *corev1.Pod) bool {
	return a.Spec.PriorityClassName == b.Spec.PriorityClassName && bestEffort(a) == bestEffort(b)
}

// bestEffort reports whether the pod requests and limits neither CPU nor memory.
func bestEffort(pod *corev1.Pod) bool {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for _, list := range []corev1.ResourceList{containers[i].Resources.Requests, containers[i].Resources.Limits} {
				if !list.Cpu().IsZero() || !list.Memory().IsZero() {
					return false
				}
			}
		}
	}
	return true
}

// quotaMessage matches what the admission of quotas says. Nothing else carries the amounts: the error has no causes, and its details name
// only the pod. The message lists only what is exceeded. Source: k8s.io/apiserver/pkg/admission/plugin/
// resourcequota, which writes the resources as name=quantity with commas between them.
var quotaMessage = regexp.MustCompile(`exceeded quota: \S+, requested: (\S+), used: (\S+), limited: (\S+)`)

// makesRoom reports whether the quota that refuses a pod has room for it once the running pod is gone. If the text of the refusal cannot be
// read, there is room for a pod that needs no more of anything.
func makesRoom(refusal error, running, pod *corev1.Pod) bool {
	found := quotaMessage.FindAllStringSubmatch(refusal.Error(), -1)
	if len(found) != 1 {
		return !needsMore(pod, running)
	}
	requested, used, limited := quantities(found[0][1]), quantities(found[0][2]), quantities(found[0][3])
	for name, amount := range requested {
		total, counted := used[name]
		limit, hasLimit := limited[name]
		if !counted || !hasLimit {
			return !needsMore(pod, running)
		}
		total.Add(amount)
		total.Sub(shareOf(running, name))
		if total.Cmp(limit) > 0 {
			return false
		}
	}
	return len(requested) > 0 || !needsMore(pod, running)
}

// quantities parses name=quantity,name=quantity. It returns nil if a part of it cannot be read.
func quantities(text string) map[string]resource.Quantity {
	out := map[string]resource.Quantity{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		quantity, err := resource.ParseQuantity(value)
		if err != nil {
			return nil
		}
		out[name] = quantity
	}
	return out
}

// shareOf returns at most what a pod takes of a resource of a quota: a pod, a limit, or a request, whose prefix may be missing.
func shareOf(pod *corev1.Pod, name string) resource.Quantity {
	if name == "pods" || name == "count/pods" {
		return resource.MustParse("1")
	}
	limit, isLimit := strings.CutPrefix(name, "limits.")
	if isLimit {
		return sumOf(pod, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits })[corev1.ResourceName(limit)]
	}
	request := corev1.ResourceName(strings.TrimPrefix(name, "requests."))
	return sumOf(pod, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests })[request]
}
