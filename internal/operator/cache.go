package operator

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
)

// CacheOptions keep only what carries the label of a cluster, without managed fields.
func CacheOptions(namespaces []string) cache.Options {
	ours := cache.ByObject{Label: belonging()}
	o := cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: ours, &corev1.ConfigMap{}: ours, &corev1.Service{}: ours, &corev1.ServiceAccount{}: ours,
			&corev1.PersistentVolumeClaim{}: ours, &policyv1.PodDisruptionBudget{}: ours, &appsv1.Deployment{}: ours,
		},
	}
	if len(namespaces) > 0 {
		o.DefaultNamespaces = map[string]cache.Config{}
		for _, ns := range namespaces {
			o.DefaultNamespaces[ns] = cache.Config{}
		}
	}
	return o
}

// belonging selects what carries the label of any cluster.
func belonging() apilabels.Selector {
	exists, err := apilabels.NewRequirement(labels.Cluster, selection.Exists, nil)
	if err != nil { // the label is a constant of ours
		panic(err)
	}
	return apilabels.NewSelector().Add(*exists)
}
