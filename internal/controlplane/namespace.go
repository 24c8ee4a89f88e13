package controlplane

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
)

// CreateNamespace creates a namespace in which pods can be created immediately.
func (c *ControlPlane) CreateNamespace(ctx context.Context, name string) error {
	core, err := coreclient.NewForConfig(c.admin)
	if err != nil {
		return err
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := core.Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	return c.createAccount(ctx, name)
}

// createAccount creates the service account without which admission rejects
// every pod of a namespace. A controller would create it slightly later, or never
// while no controller manager runs.
func (c *ControlPlane) createAccount(ctx context.Context, namespace string) error {
	core, err := coreclient.NewForConfig(c.admin)
	if err != nil {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := core.ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the service account of namespace %s: %w", namespace, err)
	}
	return nil
}
