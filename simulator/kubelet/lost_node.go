package kubelet

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	conflict "k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// LoseNode gives the Node the condition that the node lifecycle controller sets when the kubelet has stopped reporting: Ready is
// Unknown. A simulated kubelet is lost while its Node is not Ready: the processes of its pods keep running; no pod is started,
// stopped or removed there; no pod is bound to it; its pods have Ready=False while their containers are still shown as ready.
// Source: pkg/controller/nodelifecycle and MarkPodsNotReady of Kubernetes 1.34. Not simulated are the 50 s until that controller
// reacts, and the eviction of pods after five minutes.
func LoseNode(ctx context.Context, c client.Client, name string, now time.Time) error {
	lost := corev1.NodeCondition{Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}
	return setNodeReady(ctx, c, name, lost, now)
}

// RestoreNode makes the kubelet of a lost node report again.
func RestoreNode(ctx context.Context, c client.Client, name string, now time.Time) error {
	return setNodeReady(ctx, c, name, corev1.NodeCondition{Status: corev1.ConditionTrue, Reason: reasonKubeletReady, Message: messageKubeletReady}, now)
}

func setNodeReady(ctx context.Context, c client.Client, name string, to corev1.NodeCondition, now time.Time) error {
	err := conflict.RetryOnConflict(conflict.DefaultBackoff, func() error {
		node := &corev1.Node{}
		if err := c.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
			return err
		}
		i := slices.IndexFunc(node.Status.Conditions, isNodeReady)
		if i < 0 {
			node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady})
			i = len(node.Status.Conditions) - 1
		}
		condition := &node.Status.Conditions[i]
		if condition.Status == to.Status {
			return nil
		}
		condition.Status, condition.Reason, condition.Message = to.Status, to.Reason, to.Message
		condition.LastTransitionTime = metav1.NewTime(now)
		if to.Status == corev1.ConditionTrue {
			condition.LastHeartbeatTime = metav1.NewTime(now)
		}
		return c.Status().Update(ctx, node)
	})
	if err != nil {
		return fmt.Errorf("setting Ready of node %s to %s: %w", name, to.Status, err)
	}
	return nil
}

func isNodeReady(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady }

// nodeOf converts a Node as seen by its kubelet and the scheduler. A Node without a Ready condition has not reported yet, and is
// not lost.
func nodeOf(node *corev1.Node) Node {
	i := slices.IndexFunc(node.Status.Conditions, isNodeReady)
	return Node{
		Name: node.Name, Unschedulable: node.Spec.Unschedulable, Lost: i >= 0 && node.Status.Conditions[i].Status != corev1.ConditionTrue,
	}
}

func (n Node) takesPods() bool { return !n.Unschedulable && !n.Lost }

// lost reports whether the kubelet of the pod's node is lost.
func (v *visit) lost() bool {
	return v.Pod.Spec.NodeName != "" && slices.ContainsFunc(v.Nodes, func(n Node) bool { return n.Lost && n.Name == v.Pod.Spec.NodeName })
}

// unheard returns the outcome for a pod whose kubelet is lost: the pod is unchanged except that the node lifecycle controller
// sets Ready=False.
func (v *visit) unheard() Outcome {
	v.out.Next = v.Now + max(v.pods.Delays.Probe, 1)
	for i := range v.Pod.Status.Conditions {
		if c := &v.Pod.Status.Conditions[i]; c.Type != corev1.PodReady || c.Status != corev1.ConditionTrue {
			continue
		}
		status := *v.Pod.Status.DeepCopy()
		v.set(&status, corev1.PodReady, false, "", "")
		v.out.Status = &status
	}
	return v.out
}
