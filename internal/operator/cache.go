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

// CacheOptions keep the Kafka resources that the selector takes, all of them if it is nil, and of everything else only what
// carries the label of a cluster, without managed fields. Pools are not selected: a cluster without some of its pools would
// look as if their nodes were unwanted. Reading a kind that nothing watches fails, since it would watch it in all namespaces.
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

// belonging selects what carries the label of any cluster.
func belonging() apilabels.Selector {
	exists, err := apilabels.NewRequirement(labels.Cluster, selection.Exists, nil)
	if err != nil { // the label is a constant of ours
		panic(err)
	}
	return apilabels.NewSelector().Add(*exists)
}
