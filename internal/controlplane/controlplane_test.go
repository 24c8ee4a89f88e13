package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/google/go-cmp/cmp"
)

const patience = time.Minute

// realPaths finds or builds the real programs. A cold build may take longer
// than go test allows, so it stops in time to say what to do.
func realPaths(t *testing.T) Paths {
	t.Helper()
	ctx := t.Context()
	if deadline, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, deadline.Add(-time.Minute),
			errors.New("go test's -timeout is near: run `go run ./hack/controlplane` first, or give a longer one"))
		defer cancel()
	}
	paths, err := Binaries(ctx, BinaryOptions{Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// eventually asks until check has no objection.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: still not so after %s: %v", what, patience, err)
		case <-tick.C:
		}
	}
}

func clientFor(t *testing.T, cfg *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestControlPlane(t *testing.T) {
	parent := t.TempDir()
	c, err := Start(t.Context(), Options{Paths: realPaths(t), Dir: parent, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	admin := clientFor(t, c.AdminConfig())

	t.Run("reports the pinned version", func(t *testing.T) { reportsVersion(t, c, admin) })
	t.Run("evicts under a disruption budget", func(t *testing.T) { evictsUnderBudget(t, c, admin) })
	t.Run("collects what lost its owner", func(t *testing.T) { collectsGarbage(t, c, admin) })
	t.Run("removes a namespace with all that is in it", func(t *testing.T) { removesNamespace(t, c, admin) })
	t.Run("applies admission policies, to the administrator too", func(t *testing.T) { appliesPolicies(t, c, admin) })
	t.Run("knows its people and service accounts", func(t *testing.T) { knowsPeople(t, c, admin) })
	t.Run("says which program died", func(t *testing.T) { saysWhoDied(t, c) })

	pids := c.PIDs()
	for range 2 { // a second Stop does nothing and returns no error
		if err := c.Stop(); err != nil {
			t.Fatalf("Stop: %v", err)
		}
	}
	for name, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("after Stop, signalling %s (%d) gives %v, want it gone", name, pid, err)
		}
	}
	assertEmpty(t, parent)
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		t.Errorf("left behind: %s", entry.Name())
	}
}

func reportsVersion(t *testing.T, c *ControlPlane, admin *kubernetes.Clientset) {
	p, err := readPins(pinnedMod, pinnedSum)
	if err != nil {
		t.Fatal(err)
	}
	got, err := admin.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(AssetsEnv) == "" && got.GitVersion != p.kubernetes {
		t.Errorf("the API server reports %s, want %s", got.GitVersion, p.kubernetes)
	}
	if want := []string{"etcd", "kube-apiserver", "kube-controller-manager"}; len(c.PIDs()) != len(want) {
		t.Errorf("PIDs() = %v, want those of %v", c.PIDs(), want)
	}
}

// runningPod creates a pod and plays the kubelet that reports it as running.
func runningPod(t *testing.T, client *kubernetes.Clientset, namespace, name string) {
	t.Helper()
	pod, err := client.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "broker"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "broker"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if _, err := client.CoreV1().Pods(namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func evictsUnderBudget(t *testing.T, c *ControlPlane, admin *kubernetes.Clientset) {
	const ns = "evictions"
	if err := c.CreateNamespace(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	runningPod(t, admin, ns, "broker-0")
	runningPod(t, admin, ns, "broker-1")
	least := intstr.FromInt32(1)
	budgets := admin.PolicyV1().PodDisruptionBudgets(ns)
	_, err := budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "brokers"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &least,
			Selector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": "broker"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Before that, an eviction returns 429 with Retry-After: 10, and client-go
	// waits accordingly within the call.
	eventually(t, "the budget is counted", func(ctx context.Context) error {
		got, err := budgets.Get(ctx, "brokers", metav1.GetOptions{})
		if err == nil && (got.Status.ObservedGeneration != got.Generation || got.Status.DisruptionsAllowed != 1) {
			err = fmt.Errorf("its status is %+v", got.Status)
		}
		return err
	})
	evict := func(ctx context.Context, pod string) error {
		return admin.PolicyV1().Evictions(ns).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: ns}})
	}
	if err := evict(t.Context(), "broker-0"); err != nil {
		t.Errorf("evicting the first of two pods gives %v", err)
	}
	eventually(t, "the evicted pod is gone", func(ctx context.Context) error {
		_, err := admin.CoreV1().Pods(ns).Get(ctx, "broker-0", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New("it is still there"))
	})
	if err := evict(t.Context(), "broker-1"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("evicting the last pod gives %v, want 429", err)
	}
}

func collectsGarbage(t *testing.T, c *ControlPlane, admin *kubernetes.Clientset) {
	const ns = "garbage"
	if err := c.CreateNamespace(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	maps := admin.CoreV1().ConfigMaps(ns)
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
	}}}
	if _, err := maps.Create(t.Context(), owned, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), owner.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the owned object is gone", func(ctx context.Context) error {
		_, err := maps.Get(ctx, owned.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New("it is still there"))
	})
}

func removesNamespace(t *testing.T, c *ControlPlane, admin *kubernetes.Clientset) {
	const ns = "leaving"
	if err := c.CreateNamespace(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	runningPod(t, admin, ns, "broker-0")
	if err := admin.CoreV1().Namespaces().Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace is gone", func(ctx context.Context) error {
		_, err := admin.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, errors.New("it is still there"))
	})
}

func appliesPolicies(t *testing.T, c *ControlPlane, admin *kubernetes.Clientset) {
	const ns = "policies"
	if err := c.CreateNamespace(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	policies := admin.AdmissionregistrationV1()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "no-secrets-in-policies"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: ns}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "has(object.data)", Message: "an empty map helps nobody"}},
		},
	}
	if _, err := policies.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: policy.ObjectMeta,
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        policy.Name,
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	if _, err := policies.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the policy refuses", func(ctx context.Context) error {
		_, err := admin.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "empty-"}}, metav1.CreateOptions{})
		if err == nil {
			return errors.New("an empty map was accepted")
		}
		if !strings.Contains(err.Error(), "an empty map helps nobody") {
			return err
		}
		return nil
	})
	eventually(t, "the policy was type-checked", func(ctx context.Context) error {
		got, err := policies.ValidatingAdmissionPolicies().Get(ctx, policy.Name, metav1.GetOptions{})
		if err == nil && got.Status.TypeChecking == nil {
			err = errors.New("its status has no typeChecking")
		}
		return err
	})
}

func knowsPeople(t *testing.T, c *ControlPlane, admin *kubernetes.Clientset) {
	files := c.Kubeconfigs()
	token, err := c.ServiceAccountConfig(t.Context(), "default", "default", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.Config("anna", "auditors", "operators")
	if err != nil {
		t.Fatal(err)
	}
	people := map[string]struct {
		cfg        *rest.Config
		want       string
		wantGroup  string
		wantEdit   bool
		wantMaster bool
	}{
		"the administrator":           {load(t, files.Admin), "admin", "system:masters", true, true},
		"a developer":                 {load(t, files.Developer), "developer", DeveloperGroup, true, false},
		"somebody who breaks glass":   {load(t, files.BreakGlass), "break-glass", BreakGlassGroup, true, true},
		"a service account":           {token, "system:serviceaccount:default:default", "system:serviceaccounts", false, false},
		"a person with groups of her": {other, "anna", "operators", false, false},
	}
	for name, tc := range people {
		t.Run(name, func(t *testing.T) {
			client := clientFor(t, tc.cfg)
			self, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := self.Status.UserInfo
			if diff := cmp.Diff(tc.want, got.Username); diff != "" {
				t.Errorf("user (-want +got):\n%s", diff)
			}
			if !strings.Contains(strings.Join(got.Groups, ","), tc.wantGroup) {
				t.Errorf("groups are %q, want %q among them", got.Groups, tc.wantGroup)
			}
			assertAllowed(t, client, "default", tc.wantEdit)
			assertAllowed(t, client, "kube-system", tc.wantEdit)
			if _, err := client.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{}); (err == nil) != tc.wantMaster {
				t.Errorf("listing cluster roles gives %v, want it allowed: %t", err, tc.wantMaster)
			}
		})
	}
}

func load(t *testing.T, path string) *rest.Config {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// assertAllowed creates a config map, if only in a dry run. The role edit is
// filled by a controller, so a permission may come a moment late.
func assertAllowed(t *testing.T, client *kubernetes.Clientset, namespace string, want bool) {
	t.Helper()
	create := func(ctx context.Context) error {
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-"},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	if want {
		eventually(t, "creating a config map in "+namespace, create)
		return
	}
	if err := create(t.Context()); !apierrors.IsForbidden(err) {
		t.Errorf("creating a config map in %s gives %v, want it forbidden", namespace, err)
	}
}

func saysWhoDied(t *testing.T, c *ControlPlane) {
	if err := c.Err(); err != nil {
		t.Fatalf("Err() while all run = %v, want nil", err)
	}
	if err := syscall.Kill(c.PIDs()["kube-controller-manager"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Failed():
	case <-time.After(patience):
		t.Fatal("nobody noticed that kube-controller-manager was killed")
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "kube-controller-manager ended by itself (signal: killed)") {
		t.Errorf("Err() = %v, want it to name the program and the signal", err)
	}
}
