package controlplane

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
)

// CreateNamespace creates a namespace and waits until pods can be created in
// it. As in every cluster that takes a moment: admission refuses a pod whose
// service account does not exist, and a controller makes the one called
// default. It ends early when ctx does.
func (c *ControlPlane) CreateNamespace(ctx context.Context, name string) error {
	core, err := coreclient.NewForConfig(c.admin)
	if err != nil {
		return err
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := core.Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	tick := c.options.Clock.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		_, err := core.ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		if err == nil {
			return nil
		}
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("waiting for the service account of namespace %s: %w", name, err)
		}
		select {
		case <-tick.C():
		case <-ctx.Done():
			return fmt.Errorf("waiting for the service account of namespace %s: %w", name, context.Cause(ctx))
		}
	}
}
