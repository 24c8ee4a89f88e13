package kafka

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
)

func brokerOf(id int32) kafkaclient.Broker { return kafkaclient.Broker{ID: id, Epoch: -1} }

func voterOf(id int32, end int64) kafkaclient.QuorumReplica {
	return kafkaclient.QuorumReplica{ID: id, LogEndOffset: end}
}

func jsonOf(text string) apiextensionsv1.JSON { return apiextensionsv1.JSON{Raw: []byte(text)} }

// refusing is a client whose evictions a disruption budget refuses.
type refusing struct{ client.Client }

func (c refusing) SubResource(name string) client.SubResourceClient {
	if name == "eviction" {
		return refusedEviction{c.Client.SubResource(name)}
	}
	return c.Client.SubResource(name)
}

type refusedEviction struct{ client.SubResourceClient }

func (refusedEviction) Create(context.Context, client.Object, client.Object, ...client.SubResourceCreateOption) error {
	return apierrors.NewTooManyRequests("the budget allows none", 1)
}

func containerStatus(state, last corev1.ContainerState) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "kafka", Image: "apache/kafka:4.0.2", State: state, LastTerminationState: last}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func terminated(code int32, reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}}
}

func lostWords(dir string) string {
	return "ERROR storage lost: nothing is left in " + dir + ", and ConfigMap x-record forbids formatting it again (format: done). Bring the volume back\n"
}
