package restarting

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Requested reports whether a user requests the restart of a pod, or of all pods of a StrimziPodSet, by its annotation.
func Requested(o metav1.Object) bool { return lifecycle.HasFlag(o, labels.RollingUpdate) }

// ReplacementRequested reports whether a user requests the replacement of a pod and its claims, by its annotation.
func ReplacementRequested(pod *corev1.Pod) bool {
	return lifecycle.HasFlag(pod, labels.DeletePodAndPVC)
}

// Due reports whether a request of a user still applies to the pod: to the pod itself, or to its set. A request applies to pods
// by their UID. So the pod that replaces one is never restarted for the same request. set may be nil.
func Due(pod *corev1.Pod, set *corev1beta2.StrimziPodSet) bool {
	return Requested(pod) || set != nil && Requested(set) && slices.Contains(accepted(set), string(pod.UID))
}

// Accepted reports whether the request on the set applies to a list of pods already.
func Accepted(set *corev1beta2.StrimziPodSet) bool {
	_, listed := set.Annotations[labels.ToRestart]
	return listed
}

// Accept lists the pods to which the request on the set applies.
func Accept(set *corev1beta2.StrimziPodSet, pods []types.UID) {
	list := make([]string, len(pods))
	for i, uid := range pods {
		list[i] = string(uid)
	}
	if set.Annotations == nil {
		set.Annotations = map[string]string{}
	}
	set.Annotations[labels.ToRestart] = strings.Join(list, " ")
}

// End removes the request from the set, with the list of its pods.
func End(set *corev1beta2.StrimziPodSet) {
	delete(set.Annotations, labels.RollingUpdate)
	delete(set.Annotations, labels.ToRestart)
}

func accepted(set *corev1beta2.StrimziPodSet) []string {
	return strings.Fields(set.Annotations[labels.ToRestart])
}
