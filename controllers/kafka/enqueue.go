package kafka

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

// children returns the kinds of a cluster's children: all kinds that an observation lists, so that a deleted or changed object is
// restored at once.
func children() []client.Object {
	return []client.Object{
		&corev1beta2.StrimziPodSet{}, &corev1.Pod{}, &corev1.ConfigMap{}, &corev1.PersistentVolumeClaim{}, &corev1.Service{},
		&corev1.ServiceAccount{}, &policyv1.PodDisruptionBudget{}, &appsv1.Deployment{},
	}
}

// ClusterOf returns a request for the Kafka resource in the object's label, whether or not that resource owns the object.
func ClusterOf(_ context.Context, o client.Object) []reconcile.Request {
	cluster := o.GetLabels()[labels.Cluster]
	if cluster == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: cluster}}}
}
