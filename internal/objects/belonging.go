package objects

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/detent-dev/detent/internal/resource"
)

// Belonging reads an object of one of the kinds and everything that belongs to it from the cluster. The object comes first. It only
// reads.
func (c Cluster) Belonging(ctx context.Context, kinds []resource.Kind, meant Reference) ([]*unstructured.Unstructured, error) {
	r, err := c.reach()
	if err != nil {
		return nil, err
	}
	object, err := r.get(ctx, meant)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(kinds, func(k resource.Kind) bool { return k.Name == object.GetKind() })
	if i < 0 {
		return nil, fmt.Errorf("%s is a %s: what belongs to it is known only of %s; give its files with -f", meant, object.GetKind(), names(kinds))
	}
	client, err := dynamic.NewForConfig(r.config)
	if err != nil {
		return nil, fmt.Errorf("reaching the cluster: %w", err)
	}
	all := []*unstructured.Unstructured{object}
	for _, part := range kinds[i].Parts {
		list, err := client.Resource(part.Resource).Namespace(object.GetNamespace()).List(ctx, metav1.ListOptions{LabelSelector: kinds[i].Label + "=" + object.GetName()})
		if apierrors.IsNotFound(err) {
			continue // the kind is not installed, so there are no objects of it
		}
		if err != nil {
			return nil, fmt.Errorf("listing the %s of %s: %w", part.Resource.Resource, meant, err)
		}
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
	}
	return all, nil
}

func names(kinds []resource.Kind) string {
	out := make([]string, len(kinds))
	for i := range kinds {
		out[i] = kinds[i].Name
	}
	return strings.Join(out, ", ")
}
