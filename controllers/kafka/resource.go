package kafka

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/internal/resource"
)

// Resource declares the Kafka kind and its parts: all kinds that an observation lists, so that a deleted or changed object is
// restored at once.
func Resource() resource.Kind {
	return resource.Kind{
		Name: kafkav1beta2.KindKafka, Object: &kafkav1beta2.Kafka{}, Resource: kafkav1beta2.GroupVersion().WithResource("kafkas"),
		AddToScheme: []func(*k8sruntime.Scheme) error{kafkav1beta2.AddToScheme, corev1beta2.AddToScheme},
		Label:       labels.Cluster,
		Parts: []resource.Part{
			{Object: &kafkav1beta2.KafkaNodePool{}, Resource: kafkav1beta2.GroupVersion().WithResource("kafkanodepools"), Status: true, Scale: true},
			{Object: &corev1beta2.StrimziPodSet{}, Resource: corev1beta2.GroupVersion().WithResource("strimzipodsets"), Access: resource.Removed, Status: true, Owner: true},
			{Object: &corev1.Pod{}, Resource: corev1.SchemeGroupVersion.WithResource("pods"), Access: resource.Removed},
			{Object: &corev1.ConfigMap{}, Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Access: resource.Removed},
			{Object: &corev1.PersistentVolumeClaim{}, Resource: corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims"), Access: resource.Removed},
			{Object: &corev1.Service{}, Resource: corev1.SchemeGroupVersion.WithResource("services"), Access: resource.Applied},
			{Object: &corev1.ServiceAccount{}, Resource: corev1.SchemeGroupVersion.WithResource("serviceaccounts"), Access: resource.Applied},
			{Object: &policyv1.PodDisruptionBudget{}, Resource: policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"), Access: resource.Applied},
			{Object: &appsv1.Deployment{}, Resource: appsv1.SchemeGroupVersion.WithResource("deployments"), Access: resource.Removed},
		},
		Rights: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods/eviction"}, Verbs: []string{"create"}}},
		// Reports whether a kubelet is alive, and the rack of a broker. Without it, the recovery of a cluster without a majority and a
		// broker that needs a rack wait and name the permission.
		ClusterRights: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get"}}},
	}
}
