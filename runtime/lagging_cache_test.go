package runtime_test

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/test/turnstile/api"
)

// laggingCache answers reads of frozen objects with their versions when they were frozen, and does not return a hidden
// ConfigMap.
type laggingCache struct {
	client.WithWatch
	frozen map[string]client.Object
	hidden string
}

func (c *laggingCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	old, frozen := c.frozen[key.Name]
	if key.Name == c.hidden {
		return apierrors.NewNotFound(corev1.Resource("configmaps"), key.Name)
	}
	if !frozen {
		return c.WithWatch.Get(ctx, key, o, opts...)
	}
	switch into := o.(type) {
	case *api.Turnstile:
		old.(*api.Turnstile).DeepCopyInto(into)
	case *corev1.ConfigMap:
		old.(*corev1.ConfigMap).DeepCopyInto(into)
	}
	return nil
}

func (c *laggingCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := c.WithWatch.List(ctx, list, opts...); err != nil {
		return err
	}
	maps, ok := list.(*corev1.ConfigMapList)
	if !ok {
		return nil
	}
	maps.Items = slices.DeleteFunc(maps.Items, func(m corev1.ConfigMap) bool {
		_, frozen := c.frozen[m.Name]
		return frozen || m.Name == c.hidden
	})
	for _, o := range c.frozen {
		if m, ok := o.(*corev1.ConfigMap); ok {
			maps.Items = append(maps.Items, *m.DeepCopy())
		}
	}
	return nil
}
