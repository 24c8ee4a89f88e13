package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/simulator/store"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newStore(t *testing.T, objects ...client.Object) *store.Store {
	t.Helper()
	scheme := k8sruntime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	s := store.New(scheme, start)
	for _, o := range objects {
		if err := s.Put(o); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: labels}, Data: map[string]string{"k": name}}
}

func pod(name string, ready bool) *corev1.Pod {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: map[string]string{"app": "kafka"}},
		Spec:       corev1.PodSpec{NodeName: "node"},
		Status:     corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}},
	}
}

func TestStoreUpdateConflicts(t *testing.T) {
	c := newStore(t, configMap("a", nil)).Client()
	ctx := context.Background()
	first, second := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	key := types.NamespacedName{Namespace: "ns", Name: "a"}
	for _, into := range []*corev1.ConfigMap{first, second} {
		if err := c.Get(ctx, key, into); err != nil {
			t.Fatal(err)
		}
	}
	first.Data["k"] = "first"
	if err := c.Update(ctx, first); err != nil {
		t.Fatal(err)
	}
	second.Data["k"] = "second"
	if err := c.Update(ctx, second); !apierrors.IsConflict(err) {
		t.Fatalf("updating a stale copy: %v, want a conflict", err)
	}
	if err := c.Update(ctx, first); err != nil {
		t.Fatalf("updating with nothing changed: %v", err)
	}
	got := &corev1.ConfigMap{}
	if err := c.Get(ctx, key, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStoreUpdateOfStatusAndSpec(t *testing.T) {
	c := newStore(t, pod("p", false)).Client()
	ctx := context.Background()
	got := &corev1.Pod{}
	key := types.NamespacedName{Namespace: "ns", Name: "p"}
	if err := c.Get(ctx, key, got); err != nil {
		t.Fatal(err)
	}
	got.Spec.NodeName, got.Status.Phase = "other", corev1.PodRunning
	if err := c.Status().Update(ctx, got.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	after := &corev1.Pod{}
	if err := c.Get(ctx, key, after); err != nil {
		t.Fatal(err)
	}
	if after.Spec.NodeName != "node" || after.Status.Phase != corev1.PodRunning || after.Generation != 1 {
		t.Errorf("status update wrote node %q phase %q generation %d", after.Spec.NodeName, after.Status.Phase, after.Generation)
	}
	after.Spec.NodeName, after.Status.Phase = "other", corev1.PodFailed
	if err := c.Update(ctx, after); err != nil {
		t.Fatal(err)
	}
	if after.Spec.NodeName != "other" || after.Status.Phase != corev1.PodRunning || after.Generation != 2 {
		t.Errorf("update wrote node %q phase %q generation %d", after.Spec.NodeName, after.Status.Phase, after.Generation)
	}
}

func TestStoreDeletePreconditionsAndBoundPods(t *testing.T) {
	s := newStore(t, configMap("a", nil), pod("p", true))
	c := s.Client()
	ctx := context.Background()
	wrong := types.UID("other")
	if err := c.Delete(ctx, configMap("a", nil), client.Preconditions{UID: &wrong}); !apierrors.IsConflict(err) {
		t.Errorf("deleting another UID: %v, want a conflict", err)
	}
	if err := c.Delete(ctx, configMap("a", nil)); err != nil {
		t.Error(err)
	}
	if err := c.Get(ctx, types.NamespacedName{Namespace: "ns", Name: "a"}, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("reading what was deleted: %v", err)
	}
	if err := c.Delete(ctx, pod("p", true)); err != nil {
		t.Error(err)
	}
	left := &corev1.Pod{}
	if err := c.Get(ctx, types.NamespacedName{Namespace: "ns", Name: "p"}, left); err != nil || left.DeletionTimestamp == nil {
		t.Errorf("a running pod is marked until its kubelet removes it: %v %v", err, left.DeletionTimestamp)
	}
	if err := c.Delete(ctx, left, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(left), left); !apierrors.IsNotFound(err) {
		t.Errorf("after the kubelet: %v", err)
	}
}

func TestStoreDeleteRemovesControlledObjects(t *testing.T) {
	s := newStore(t, configMap("owner", nil))
	c := s.Client()
	ctx := context.Background()
	owner := &corev1.ConfigMap{}
	if err := c.Get(ctx, types.NamespacedName{Namespace: "ns", Name: "owner"}, owner); err != nil {
		t.Fatal(err)
	}
	yes := true
	child, friend := configMap("child", nil), configMap("friend", nil)
	child.OwnerReferences = []metav1.OwnerReference{{Kind: "ConfigMap", Name: "owner", UID: owner.UID, Controller: &yes}}
	friend.OwnerReferences = []metav1.OwnerReference{{Kind: "ConfigMap", Name: "owner", UID: owner.UID}}
	for _, o := range []client.Object{child, friend} {
		if err := c.Create(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Delete(ctx, owner); err != nil {
		t.Fatal(err)
	}
	var left corev1.ConfigMapList
	if err := c.List(ctx, &left, client.InNamespace("ns")); err != nil {
		t.Fatal(err)
	}
	if len(left.Items) != 1 || left.Items[0].Name != "friend" {
		t.Errorf("left %v, want friend alone", left.Items)
	}
}

func TestStoreEvictionRespectsBudget(t *testing.T) {
	least := intstr.FromInt32(2)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "ns"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kafka"}}},
	}
	cases := map[string]struct {
		pods    []client.Object
		evicted string
		refused bool
	}{
		"one of three may go":                   {[]client.Object{pod("a", true), pod("b", true), pod("c", true)}, "a", false},
		"one of two may not":                    {[]client.Object{pod("a", true), pod("b", true)}, "a", true},
		"an unready one may always go":          {[]client.Object{pod("a", false), pod("b", true), pod("c", true)}, "a", false},
		"a ready one not while another is down": {[]client.Object{pod("a", false), pod("b", true), pod("c", true)}, "b", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newStore(t, append(tc.pods, budget)...).Client()
			err := c.SubResource("eviction").Create(context.Background(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: tc.evicted, Namespace: "ns"}}, &policyv1.Eviction{})
			if got := apierrors.IsTooManyRequests(err); got != tc.refused || err != nil && !got {
				t.Errorf("evicting %s: %v, want refused=%v", tc.evicted, err, tc.refused)
			}
		})
	}
}

func TestStoreListSelectsAndSorts(t *testing.T) {
	c := newStore(t, configMap("b", map[string]string{"x": "1"}), configMap("a", map[string]string{"x": "1"}), configMap("c", nil)).Client()
	var got corev1.ConfigMapList
	if err := c.List(context.Background(), &got, client.MatchingLabels{"x": "1"}); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, i := range got.Items {
		names = append(names, i.Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStoreCloneIsIndependent(t *testing.T) {
	s := newStore(t, configMap("a", nil))
	clone := s.Clone()
	if err := clone.Client().Delete(context.Background(), configMap("a", nil)); err != nil {
		t.Fatal(err)
	}
	if err := s.Client().Get(context.Background(), types.NamespacedName{Namespace: "ns", Name: "a"}, &corev1.ConfigMap{}); err != nil {
		t.Errorf("the original lost what the clone deleted: %v", err)
	}
}

func TestStoreDryRunCreatesNothing(t *testing.T) {
	s := newStore(t, configMap("a", nil))
	writes := 0
	s.Written = func(store.Write) { writes++ }
	if err := s.Client().Create(context.Background(), configMap("b", nil), client.DryRunAll); err != nil {
		t.Error(err)
	}
	if err := s.Client().Create(context.Background(), configMap("a", nil), client.DryRunAll); !apierrors.IsAlreadyExists(err) {
		t.Errorf("error %v, want that it exists", err)
	}
	err := s.Client().Get(context.Background(), types.NamespacedName{Namespace: "ns", Name: "b"}, &corev1.ConfigMap{})
	if !apierrors.IsNotFound(err) || writes > 0 {
		t.Errorf("error %v and %d writes, want nothing", err, writes)
	}
}

// TestCreateRefusesPodsOverTheirLimits refuses a pod with a request above its limit, as an API server does, also in a dry run.
func TestCreateRefusesPodsOverTheirLimits(t *testing.T) {
	list := func(memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
	}
	for name, tc := range map[string]struct {
		resources corev1.ResourceRequirements
		want      string
	}{
		"without limits":   {corev1.ResourceRequirements{Requests: list("2Gi")}, ""},
		"within the limit": {corev1.ResourceRequirements{Requests: list("1024Mi"), Limits: list("1Gi")}, ""},
		"over the limit": {
			corev1.ResourceRequirements{Requests: list("2Gi"), Limits: list("1Gi")},
			`Pod "a" is invalid: spec.containers[0].resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod("a", true)
			p.Spec.Containers = []corev1.Container{{Name: "kafka", Resources: tc.resources}}
			c := newStore(t).Client()
			for _, options := range [][]client.CreateOption{{client.DryRunAll}, nil} {
				got := ""
				if err := c.Create(context.Background(), p.DeepCopy(), options...); err != nil {
					got = err.Error()
				}
				if got != tc.want {
					t.Errorf("error %q, want %q", got, tc.want)
				}
			}
		})
	}
}
