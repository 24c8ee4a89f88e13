// Package connection connects the operator to Kafka clusters: how a cluster is reached, what may be asked of it and commanded, and
// how the end of a command is judged.
package connection

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/runtime/external"
)

// Endpoint identifies a Kafka cluster and its addresses.
type Endpoint struct {
	// Name and UID of the Kafka resource.
	Name types.NamespacedName
	UID  types.UID
	// Bootstrap addresses, host:port, as reachable inside the Kubernetes cluster.
	Bootstrap []string
	// Nodes are the addresses of the nodes that have a pod, by id.
	Nodes map[int32]kafkaclient.NodeAddress
	// NewestNodes returns the Nodes of the newest read. It is set for Connect, so that a growing cluster keeps its connections.
	NewestNodes func() map[int32]kafkaclient.NodeAddress
}

// EndpointOf returns the address of the cluster: its internal listener, which every node serves.
func EndpointOf(kafka *kafkav1beta2.Kafka) Endpoint {
	return Endpoint{
		Name: types.NamespacedName{Namespace: kafka.Namespace, Name: kafka.Name}, UID: kafka.UID,
		Bootstrap: []string{fmt.Sprintf("%s.%s.svc:%d", render.BootstrapName(kafka.Name), kafka.Namespace, render.PortReplication)},
	}
}

// Object returns the Kafka resource.
func (e Endpoint) Object() (types.NamespacedName, types.UID) { return e.Name, e.UID }

// BuiltFrom returns the bootstrap addresses.
func (e Endpoint) BuiltFrom() string { return strings.Join(e.Bootstrap, ",") }

type (
	// System reads from Kafka clusters and sends commands to them.
	System = external.System[Endpoint, kafkaclient.Question, kafkaclient.Answer, kafkaclient.Command]
	// Polled is the System of a manager.
	Polled = external.Polled[Endpoint, *connection, kafkaclient.Question, kafkaclient.Answer, kafkaclient.Command]
	// Direct is the System of plans and tests.
	Direct = external.Direct[Endpoint, *connection, kafkaclient.Question, kafkaclient.Answer, kafkaclient.Command]
	// Query is one question to a cluster.
	Query = external.Query[kafkaclient.Question]
	// Reading is the result of a Query.
	Reading = external.Reading[kafkaclient.Answer]
	// Protocol is how Kafka is asked and commanded.
	Protocol = external.Protocol[Endpoint, *connection, kafkaclient.Question, kafkaclient.Answer, kafkaclient.Command]
)

// connection is a client of one cluster with the current addresses of its nodes.
type connection struct {
	kafkaclient.Client
	newest atomic.Pointer[map[int32]kafkaclient.NodeAddress]
}

func (c *connection) nodes() map[int32]kafkaclient.NodeAddress {
	if nodes := c.newest.Load(); nodes != nil {
		return *nodes
	}
	return nil
}

// NewProtocol returns the protocol of Kafka. The default of Polled.Settle covers its commands: the sender limits the controller to
// three quarters of the client's timeout, and a broker shows a new level once it has fetched the metadata log up to it.
//
// connect creates the client of a cluster and the function that closes it. It must not connect yet.
func NewProtocol(connect func(Endpoint) (kafkaclient.Client, func(), error)) Protocol {
	return Protocol{
		Connect: func(cluster Endpoint) (*connection, func(), error) {
			c := &connection{}
			cluster.NewestNodes = c.nodes
			opened, done, err := connect(cluster)
			c.Client = opened
			return c, done, err
		},
		Refresh: func(c *connection, cluster Endpoint) { c.newest.Store(&cluster.Nodes) },
		Ask: func(ctx context.Context, c *connection, q kafkaclient.Question) (kafkaclient.Answer, error) {
			return kafkaclient.Ask(ctx, c, q)
		},
		Execute: func(ctx context.Context, c *connection, command kafkaclient.Command) error {
			return kafkaclient.Execute(ctx, c, command)
		},
		Outcome: outcome,
	}
}

// outcome converts an error of a command.
func outcome(err error) external.Answer {
	a := external.Answer{State: external.Failed, Text: err.Error()}
	if refused, ok := kafkaclient.AsRefused(err); ok {
		a.State, a.Code, a.Name, a.Text = external.Refused, int(refused.Code), refused.Name, refused.Message
	} else if kafkaclient.IsOutcomeUnknown(err) {
		a.State = external.Unknown
	}
	a.Text = kafkaclient.Redact(a.Text)
	return a
}
