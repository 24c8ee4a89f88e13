package ceph

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/internal/resource"
)

// Resource declares the Cluster kind and its parts: all kinds that an observation lists.
func Resource() resource.Kind {
	return resource.Kind{
		Name: cephv1.KindCluster, Object: &cephv1.Cluster{}, Resource: cephv1.GroupVersion().WithResource("clusters"),
		AddToScheme: []func(*k8sruntime.Scheme) error{cephv1.AddToScheme},
		Label:       render.LabelCluster,
		Separate:    "ceph",
		Parts: []resource.Part{
			{Object: &appsv1.Deployment{}, Resource: appsv1.SchemeGroupVersion.WithResource("deployments"), Access: resource.Removed},
			{Object: &batchv1.Job{}, Resource: batchv1.SchemeGroupVersion.WithResource("jobs"), Access: resource.Applied},
			{Object: &corev1.Pod{}, Resource: corev1.SchemeGroupVersion.WithResource("pods"), Access: resource.Watched},
			{Object: &corev1.ConfigMap{}, Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Access: resource.Applied},
			{Object: &corev1.PersistentVolumeClaim{}, Resource: corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims"), Access: resource.Applied},
			{Object: &corev1.Service{}, Resource: corev1.SchemeGroupVersion.WithResource("services"), Access: resource.Applied},
			{Object: &policyv1.PodDisruptionBudget{}, Resource: policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"), Access: resource.Applied},
		},
		// The keys of the cluster. They are read by name alone and in no cache.
		Rights: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "create", "update"}},
			// The ceph command is run in a pod. API servers demand get of a websocket, and newer ones create in addition.
			{APIGroups: []string{""}, Resources: []string{"pods/exec"}, Verbs: []string{"get", "create"}},
		},
		// Monitors keep their data on hosts, which are chosen before they are launched.
		ClusterRights: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list"}}},
	}
}
