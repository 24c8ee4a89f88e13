package kafka

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/controllers/labels"
)

// ClusterOf is the Kafka resource that an object belongs to by its label, whether or not it is owned by it.
func ClusterOf(_ context.Context, o client.Object) []reconcile.Request {
	cluster := o.GetLabels()[labels.Cluster]
	if cluster == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: cluster}}}
}
