package kafka

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/controllers/labels"
)

// ClusterOf returns a request for the Kafka resource in the object's label, whether or not that resource owns the object.
func ClusterOf(_ context.Context, o client.Object) []reconcile.Request {
	cluster := o.GetLabels()[labels.Cluster]
	if cluster == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: cluster}}}
}
