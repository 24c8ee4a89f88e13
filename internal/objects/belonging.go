package objects

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// parts are the resources that belong to a Kafka by their label. Secrets are not among them: planning must not require
// permission to read Secrets.
func parts() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Group: "kafka.strimzi.io", Version: "v1beta2", Resource: "kafkanodepools"},
		{Group: "core.strimzi.io", Version: "v1beta2", Resource: "strimzipodsets"},
		{Version: "v1", Resource: "pods"},
		{Version: "v1", Resource: "configmaps"},
		{Version: "v1", Resource: "persistentvolumeclaims"},
		{Version: "v1", Resource: "services"},
		{Version: "v1", Resource: "serviceaccounts"},
		{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
		{Group: "apps", Version: "v1", Resource: "deployments"},
	}
}

// Belonging reads a Kafka and everything with its label from the cluster. The Kafka comes first. It only reads.
func (c Cluster) Belonging(ctx context.Context, meant Reference) ([]*unstructured.Unstructured, error) {
	r, err := c.reach()
	if err != nil {
		return nil, err
	}
	kafka, err := r.get(ctx, meant)
	if err != nil {
		return nil, err
	}
	if kafka.GetKind() != "Kafka" {
		return nil, fmt.Errorf("%s is a %s: what belongs to it is known of a Kafka alone; give its files with -f", meant, kafka.GetKind())
	}
	client, err := dynamic.NewForConfig(r.config)
	if err != nil {
		return nil, fmt.Errorf("reaching the cluster: %w", err)
	}
	all := []*unstructured.Unstructured{kafka}
	for _, part := range parts() {
		list, err := client.Resource(part).Namespace(kafka.GetNamespace()).List(ctx, metav1.ListOptions{LabelSelector: "strimzi.io/cluster=" + kafka.GetName()})
		if apierrors.IsNotFound(err) {
			continue // the kind is not installed, so there are no objects of it
		}
		if err != nil {
			return nil, fmt.Errorf("listing the %s of %s: %w", part.Resource, meant, err)
		}
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
	}
	return all, nil
}
