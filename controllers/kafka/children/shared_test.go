package children

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An object that all nodes share is written only where it differs from what is desired, and keeps what Kubernetes has added.
func TestMergeOfSharedObjects(t *testing.T) {
	port := func(number, nodePort int32) []corev1.ServicePort {
		return []corev1.ServicePort{{Name: "tcp-clients", Port: number, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(number), NodePort: nodePort}}
	}
	service := func(change func(*corev1.ServiceSpec)) *corev1.Service {
		s := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Selector: map[string]string{"a": "b"}, Ports: port(9092, 0)}}
		change(&s.Spec)
		return s
	}
	account := func(token *bool, secrets ...string) *corev1.ServiceAccount {
		a := &corev1.ServiceAccount{AutomountServiceAccountToken: token}
		for _, s := range secrets {
			a.Secrets = append(a.Secrets, corev1.ObjectReference{Name: s})
		}
		return a
	}
	budget := func(change func(*policyv1.PodDisruptionBudgetSpec)) *policyv1.PodDisruptionBudget {
		b := &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(2)), UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
		}}
		change(&b.Spec)
		return b
	}
	deployment := func(change func(*appsv1.DeploymentSpec)) *appsv1.Deployment {
		d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32(1)), MinReadySeconds: 10}}
		if change != nil {
			change(&d.Spec)
		}
		return d
	}
	unchanged := func(*corev1.ServiceSpec) {}
	for name, tc := range map[string]struct {
		merge      func(have, want client.Object, change bool) bool
		have, want client.Object
		merged     client.Object // nil: have, because it does not differ
	}{
		"what Kubernetes adds to a Service is no difference": {
			merge: mergeService, want: service(unchanged),
			have: service(func(s *corev1.ServiceSpec) { s.ClusterIP, s.Ports = "10.0.0.1", port(9092, 30092) }),
		},
		"a port of a Service differs": {
			merge: mergeService, want: service(unchanged),
			have:   service(func(s *corev1.ServiceSpec) { s.ClusterIP, s.Ports = "10.0.0.1", port(9093, 0) }),
			merged: service(func(s *corev1.ServiceSpec) { s.ClusterIP = "10.0.0.1" }),
		},
		"the selector of a Service has another label": {
			merge: mergeService, want: service(unchanged),
			have:   service(func(s *corev1.ServiceSpec) { s.Selector = map[string]string{"a": "b", "c": "d"} }),
			merged: service(unchanged),
		},
		"what Kubernetes adds to a ServiceAccount is no difference": {
			merge: mergeAccount, want: account(new(false)), have: account(new(false), "token"),
		},
		"a ServiceAccount mounts its token": {
			merge: mergeAccount, want: account(new(false)), have: account(new(true), "token"), merged: account(new(false), "token"),
		},
		"a budget is as desired": {
			merge: mergeBudget, want: budget(func(*policyv1.PodDisruptionBudgetSpec) {}), have: budget(func(*policyv1.PodDisruptionBudgetSpec) {}),
		},
		"a budget limits what is unavailable, too": {
			merge: mergeBudget, want: budget(func(*policyv1.PodDisruptionBudgetSpec) {}),
			have:   budget(func(s *policyv1.PodDisruptionBudgetSpec) { s.MaxUnavailable = new(intstr.FromInt32(1)) }),
			merged: budget(func(*policyv1.PodDisruptionBudgetSpec) {}),
		},
		"a Deployment is as desired": {merge: mergeDeployment, want: deployment(nil), have: deployment(nil)},
		"a Deployment is paused": {
			merge: mergeDeployment, want: deployment(nil), have: deployment(func(s *appsv1.DeploymentSpec) { s.Paused = true }), merged: deployment(nil),
		},
		"the pods of a Deployment are available at once": {
			merge: mergeDeployment, want: deployment(nil), have: deployment(func(s *appsv1.DeploymentSpec) { s.MinReadySeconds = 0 }), merged: deployment(nil),
		},
		"an object of another kind does not differ": {merge: mergeBudget, want: budget(func(*policyv1.PodDisruptionBudgetSpec) {}), have: account(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			differs, merged := tc.merged != nil, tc.merged
			if !differs {
				merged, _ = tc.have.DeepCopyObject().(client.Object)
			}
			before := tc.have.DeepCopyObject()
			if got := tc.merge(tc.have, tc.want, false); got != differs {
				t.Errorf("differs: %v, want %v", got, differs)
			}
			if diff := cmp.Diff(before, tc.have); diff != "" {
				t.Errorf("a comparison changed the object (-want +got):\n%s", diff)
			}
			tc.merge(tc.have, tc.want, true)
			if diff := cmp.Diff(merged, tc.have); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
		})
	}
}
