package kafka

import (
	"context"

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
