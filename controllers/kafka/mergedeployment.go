package kafka

import (
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mergeDeployment looks at the number of pods alone: whether the template is behind says the hash of what was rendered, an
// annotation. What stands in the template may be what a webhook has made of it, and would be made of it again.
func mergeDeployment(have, want client.Object, change bool) bool {
	h, okHave := have.(*appsv1.Deployment)
	w, okWant := want.(*appsv1.Deployment)
	if !okHave || !okWant {
		return false
	}
	if change {
		h.Spec.Replicas, h.Spec.Template = w.Spec.Replicas, *w.Spec.Template.DeepCopy()
		return true
	}
	return h.Spec.Replicas == nil || *h.Spec.Replicas != *w.Spec.Replicas
}
