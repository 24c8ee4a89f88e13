package controlplane

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestStartControllerManager(t *testing.T) {
	paths := realPaths(t)
	manager := paths.ControllerManager
	paths.ControllerManager = ""
	parent := t.TempDir()
	c, err := Start(t.Context(), Options{Paths: paths, Dir: parent, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	admin := clientFor(t, c.AdminConfig())

	// Pods can be created without it, in every namespace; evicted they cannot be.
	if err := c.CreateNamespace(t.Context(), "early"); err != nil {
		t.Fatal(err)
	}
	runningPod(t, admin, metav1.NamespaceDefault, "broker-0")
	runningPod(t, admin, "early", "broker-0")
	none := intstr.FromInt32(0)
	budgets := admin.PolicyV1().PodDisruptionBudgets("early")
	if _, err := budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "brokers"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &none, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "broker"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	evict := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "broker-0", Namespace: "early"}}
	ask := admin.PolicyV1().RESTClient().Post().AbsPath("/api/v1/namespaces/early/pods/broker-0/eviction").MaxRetries(0).Body(evict)
	if err := ask.Do(t.Context()).Error(); !apierrors.IsTooManyRequests(err) {
		t.Errorf("evicting without controllers gives %v, want 429", err)
	}

	if err := c.StartControllerManager(t.Context(), "/nonexistent/kube-controller-manager"); err == nil || !strings.Contains(err.Error(), "starting the controller manager: ") {
		t.Errorf("StartControllerManager of a program that is not there gives %v", err)
	}
	if err := c.StartControllerManager(t.Context(), manager); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the budget is counted", func(ctx context.Context) error {
		got, err := budgets.Get(ctx, "brokers", metav1.GetOptions{})
		if err == nil && got.Status.ObservedGeneration != got.Generation {
			err = fmt.Errorf("its status is %+v", got.Status)
		}
		return err
	})
	if err := admin.PolicyV1().Evictions("early").Evict(t.Context(), evict); err != nil {
		t.Errorf("evicting with controllers gives %v", err)
	}
	if _, err := admin.CoreV1().ServiceAccounts("early").Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Errorf("the service account of namespace early: %v", err)
	}

	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := c.StartControllerManager(t.Context(), manager); !errors.Is(err, ErrStopped) {
		t.Errorf("StartControllerManager after Stop gives %v, want ErrStopped", err)
	}
	assertEmpty(t, parent)
}
