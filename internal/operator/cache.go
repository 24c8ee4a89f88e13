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
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// CacheOptions limit the cache to the Kafka resources that the selector matches (nil matches all) and to other objects with the
// label of a cluster. Managed fields are stripped. Node pools are not selected: if a cluster lacked some of its pools in the
// cache, their nodes would look undesired. Reading a kind without an informer fails, because it would start a watch in all
// namespaces.
func CacheOptions(namespaces []string, selector apilabels.Selector) cache.Options {
	ours := cache.ByObject{Label: belonging()}
	o := cache.Options{
		DefaultTransform:            cache.TransformStripManagedFields(),
		ReaderFailOnMissingInformer: true,
		ByObject: map[client.Object]cache.ByObject{
			&kafkav1beta2.Kafka{}: {Label: selector},
			&corev1.Pod{}:         ours, &corev1.ConfigMap{}: ours, &corev1.Service{}: ours, &corev1.ServiceAccount{}: ours,
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

// belonging selects objects with the label of any cluster.
func belonging() apilabels.Selector {
	exists, err := apilabels.NewRequirement(labels.Cluster, selection.Exists, nil)
	if err != nil { // the label is a constant and valid
		panic(err)
	}
	return apilabels.NewSelector().Add(*exists)
}
