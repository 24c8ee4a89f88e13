package mirrormaker2

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/resource"
)

// Resource declares the KafkaMirrorMaker2 kind and its parts.
func Resource() resource.Kind {
	declared := kafkav1beta2.GroupVersion().WithResource("kafkamirrormaker2s")
	return resource.Kind{
		Name: kafkav1beta2.KindKafkaMirrorMaker2, Object: &kafkav1beta2.KafkaMirrorMaker2{}, Resource: declared,
		AddToScheme: []func(*k8sruntime.Scheme) error{kafkav1beta2.AddToScheme, corev1beta2.AddToScheme},
		Label:       labels.Cluster, Scale: true,
		Parts: []resource.Part{
			{Object: &corev1beta2.StrimziPodSet{}, Resource: corev1beta2.GroupVersion().WithResource("strimzipodsets"), Access: resource.Applied, Status: true, Owner: true},
			{Object: &corev1.Pod{}, Resource: corev1.SchemeGroupVersion.WithResource("pods"), Access: resource.Removed},
			{Object: &corev1.ConfigMap{}, Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Access: resource.Applied},
			{Object: &corev1.Service{}, Resource: corev1.SchemeGroupVersion.WithResource("services"), Access: resource.Applied},
			{Object: &corev1.ServiceAccount{}, Resource: corev1.SchemeGroupVersion.WithResource("serviceaccounts"), Access: resource.Applied},
			{Object: &policyv1.PodDisruptionBudget{}, Resource: policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"), Access: resource.Applied},
			{Object: &networkingv1.NetworkPolicy{}, Resource: networkingv1.SchemeGroupVersion.WithResource("networkpolicies"), Access: resource.Applied},
		},
		// The annotations of a request are removed when it is done, and ready workers are evicted.
		Rights: []rbacv1.PolicyRule{
			{APIGroups: []string{declared.Group}, Resources: []string{declared.Resource}, Verbs: []string{"patch"}},
			{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}},
		},
		// Reports whether the kubelet of a lost worker is alive. Without it, a change of offsets waits for a worker that was not seen to end.
		ClusterRights: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}}},
	}
}
