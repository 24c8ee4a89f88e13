package kafka

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mergeDeployment looks at what is rendered: the number of pods, and image, environment and resources of each container. The rest
// is Kubernetes' defaults, or set when the Deployment is created.
func mergeDeployment(have, want client.Object, change bool) bool {
	h, okHave := have.(*appsv1.Deployment)
	w, okWant := want.(*appsv1.Deployment)
	if !okHave || !okWant {
		return false
	}
	differs := h.Spec.Replicas == nil || *h.Spec.Replicas != *w.Spec.Replicas ||
		!slices.EqualFunc(h.Spec.Template.Spec.Containers, w.Spec.Template.Spec.Containers, sameContainer) ||
		!slices.Equal(h.Spec.Template.Spec.ImagePullSecrets, w.Spec.Template.Spec.ImagePullSecrets)
	if differs && change {
		h.Spec.Replicas, h.Spec.Template = w.Spec.Replicas, *w.Spec.Template.DeepCopy()
	}
	return differs
}

func sameContainer(a, b corev1.Container) bool {
	return a.Name == b.Name && a.Image == b.Image && slices.EqualFunc(a.Env, b.Env, func(x, y corev1.EnvVar) bool {
		return x.Name == y.Name && x.Value == y.Value
	}) && equality.Semantic.DeepEqual(a.Resources, b.Resources)
}
