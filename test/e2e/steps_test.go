//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/config"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/test/e2e/stage"
)

// toolsImage runs workloads.
const toolsImage = "detent.local/tools:1"

// said returns a function that describes a status, as JSON, when an assertion has failed.
func said(status func() (any, error)) func() string {
	return func() string {
		now, err := status()
		if err != nil {
			return err.Error()
		}
		text, err := json.MarshalIndent(now, "", "  ")
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
}

// deployed waits until a Deployment has what it wants.
func deployed(ctx SpecContext, namespace, name string) {
	GinkgoHelper()
	Eventually(func(g Gomega, ctx context.Context) {
		d := &appsv1.Deployment{}
		g.Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, d)).To(Succeed())
		g.Expect(d.Status.ObservedGeneration).To(Equal(d.Generation))
		g.Expect(d.Status.AvailableReplicas).To(Equal(*d.Spec.Replicas), "available replicas of Deployment %s", name)
		g.Expect(d.Status.UpdatedReplicas).To(Equal(*d.Spec.Replicas), "updated replicas of Deployment %s", name)
	}).WithContext(ctx).Should(Succeed())
}

// work runs a tool in a pod until it ends well, and returns what it printed.
func work(ctx SpecContext, s *stage.Scenario, name string, args ...string) string {
	GinkgoHelper()
	pod := tool(s, name, args...)
	Expect(cluster.Client.Create(ctx, pod)).To(Succeed())
	return result(ctx, pod)
}

// tool is a pod that runs a tool once.
func tool(s *stage.Scenario, name string, args ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: name, Image: toolsImage, Args: args, TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m")}},
			}},
		},
	}
}

// result of a pod that runs to its end: what it printed.
func result(ctx SpecContext, pod *corev1.Pod) string {
	GinkgoHelper()
	Eventually(func(ctx context.Context) (corev1.PodPhase, error) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return "", err
		}
		if pod.Status.Phase == corev1.PodFailed {
			return "", StopTrying(fmt.Sprintf("pod %s failed: %s", pod.Name, pod.Status.ContainerStatuses[0].State.Terminated.Message))
		}
		return pod.Status.Phase, nil
	}).WithContext(ctx).Should(Equal(corev1.PodSucceeded))
	out, err := cluster.Clientset.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	return strings.TrimSpace(string(out))
}

// leader is the pod of the manager that holds the lease.
func leader(ctx SpecContext) *corev1.Pod {
	GinkgoHelper()
	return leaderIn(ctx, config.Namespace)
}

// leaderIn is the pod in the namespace that holds the lease there.
func leaderIn(ctx SpecContext, namespace string) *corev1.Pod {
	GinkgoHelper()
	var found *corev1.Pod
	Eventually(func(g Gomega, ctx context.Context) {
		found = nil
		leases, pods := &coordinationv1.LeaseList{}, &corev1.PodList{}
		g.Expect(cluster.Client.List(ctx, leases, client.InNamespace(namespace))).To(Succeed())
		g.Expect(cluster.Client.List(ctx, pods, client.InNamespace(namespace))).To(Succeed())
		g.Expect(leases.Items).To(HaveLen(1))
		holder := leases.Items[0].Spec.HolderIdentity
		g.Expect(holder).NotTo(BeNil())
		for i := range pods.Items {
			if p := &pods.Items[i]; strings.HasPrefix(*holder, p.Name) && p.Status.Phase == corev1.PodRunning && ready(p) {
				found = p
				return
			}
		}
		g.Expect(found).NotTo(BeNil(), "no ready pod holds the lease; its holder is %q", *holder)
	}).WithContext(ctx).Should(Succeed())
	return found
}

// holder of the manager's lease.
func holder(ctx context.Context) string {
	leases := &coordinationv1.LeaseList{}
	if err := cluster.Client.List(ctx, leases, client.InNamespace(config.Namespace)); err != nil || len(leases.Items) != 1 || leases.Items[0].Spec.HolderIdentity == nil {
		return ""
	}
	return *leases.Items[0].Spec.HolderIdentity
}

func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// holds says that a condition is true for the generation that was asked for.
func holds(g Gomega, object client.Object, conditions []metav1.Condition, kind string) {
	c := apimeta.FindStatusCondition(conditions, kind)
	g.Expect(c).NotTo(BeNil(), "condition %s", kind)
	g.Expect(c.Status).To(Equal(metav1.ConditionTrue), "%s: %s", c.Reason, c.Message)
	g.Expect(c.ObservedGeneration).To(Equal(object.GetGeneration()))
}

// statement is what a status says, in lines.
func statement(conditions []metav1.Condition, lifecycles []lifecyclev1.Lifecycle) string {
	var text strings.Builder
	for _, c := range conditions {
		fmt.Fprintf(&text, "%s=%s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	for _, l := range lifecycles {
		for _, w := range l.WaitingFor {
			fmt.Fprintf(&text, "%s waits in %s for %s: %s; %s\n", l.Name, l.State, w.Guard, w.Expected, w.Observed)
		}
	}
	return text.String()
}
