package kubelet

import (
	"context"
	"fmt"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CreateNodes creates Nodes that report Ready, and a default StorageClass for volumes that can be expanded. No component
// renews the heartbeats of the Nodes, so a control plane with a node lifecycle controller would mark them as lost.
func CreateNodes(ctx context.Context, c client.Client, now time.Time, names ...string) error {
	for _, name := range names {
		if err := createNode(ctx, c, name, now); err != nil {
			return fmt.Errorf("creating node %s: %w", name, err)
		}
	}
	grows := true
	class := &storagev1.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{Name: "standard", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner:          "detent.dev/simulated",
		AllowVolumeExpansion: &grows,
	}
	if err := c.Create(ctx, class); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating storage class %s: %w", class.Name, err)
	}
	return nil
}

func createNode(ctx context.Context, c client.Client, name string, now time.Time) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: runtime.GOARCH, "type": "simulated",
	}}}
	if err := c.Create(ctx, node); err != nil {
		return err
	}
	// An admission plugin taints a new node until its kubelet has reported. No component here would remove the taint.
	node.Spec.Taints = nil
	if err := c.Update(ctx, node); err != nil {
		return err
	}
	node.Status = nodeStatus(name, metav1.NewTime(now))
	return c.Status().Update(ctx, node)
}

// The Ready condition of a simulated node.
const (
	reasonKubeletReady  = "KubeletReady"
	messageKubeletReady = "the node is simulated"
)

func nodeStatus(name string, now metav1.Time) corev1.NodeStatus {
	size := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("1000"),
	}
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: now, LastTransitionTime: now}
	}
	return corev1.NodeStatus{
		Capacity: size, Allocatable: size,
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: NodeAddress(name)}, {Type: corev1.NodeHostName, Address: name}},
		NodeInfo: corev1.NodeSystemInfo{
			KubeletVersion: "v1.34.4-simulated", ContainerRuntimeVersion: "simulated://1", OSImage: "none", OperatingSystem: "linux", Architecture: runtime.GOARCH,
		},
		Conditions: []corev1.NodeCondition{
			condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
			condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
			condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
			condition(corev1.NodeReady, corev1.ConditionTrue, reasonKubeletReady, messageKubeletReady),
		},
	}
}
