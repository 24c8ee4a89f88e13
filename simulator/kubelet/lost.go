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

// LoseNode makes the Node show what the node lifecycle controller shows of one whose kubelet has stopped reporting: Ready is
// Unknown. The simulated kubelet of a Node that is not Ready is lost. The processes of its pods run on; no pod is started, stopped
// or removed there, no pod is bound to it, and its pods show Ready=False while their containers still show as ready. Source:
// pkg/controller/nodelifecycle and MarkPodsNotReady of Kubernetes 1.34. Left out are the 50 s until that controller notices, and
// the eviction of pods after five minutes.
func LoseNode(ctx context.Context, c client.Client, name string, now time.Time) error {
	lost := corev1.NodeCondition{Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}
	return setNodeReady(ctx, c, name, lost, now)
}

// RestoreNode lets the kubelet of a lost node report again.
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

// nodeOf is the Node as its kubelet and the scheduler take it. One without a Ready condition has not reported yet, and is not lost.
func nodeOf(node *corev1.Node) Node {
	i := slices.IndexFunc(node.Status.Conditions, isNodeReady)
	return Node{
		Name: node.Name, Unschedulable: node.Spec.Unschedulable, Lost: i >= 0 && node.Status.Conditions[i].Status != corev1.ConditionTrue,
	}
}

func (n Node) takesPods() bool { return !n.Unschedulable && !n.Lost }

// lost says whether the kubelet of the pod's node does not report.
func (v *visit) lost() bool {
	return v.Pod.Spec.NodeName != "" && slices.ContainsFunc(v.Nodes, func(n Node) bool { return n.Lost && n.Name == v.Pod.Spec.NodeName })
}

// unheard is a pod whose kubelet is lost: it stays as it is, and the node lifecycle controller marks it as not ready.
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
