package observation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/fleet"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/noderoll"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Collector observes Kafka clusters. One instance serves all clusters of a process. It is safe for concurrent use.
type Collector struct {
	// Table of the versions of Kafka. Required.
	Table *versions.Table
	// System reads from Kafka. Required.
	System connection.System
	// Hosts reads Node objects live, to determine whether kubelets are alive. Required.
	Hosts   client.Reader
	Options Options
	// Fleet are the slots that limit how many clusters roll at once. Optional; default: any number.
	Fleet *fleet.Slots

	entries  entryCache
	rendered rendered
	memories memories
}

// Collect observes a cluster. It reads objects from the cache, or from the API server for a live observation, which omits objects
// that no decision depends on. It reads the facts about Kafka that are requested. It returns ErrStale of a cached read unchanged.
// A fact that Kafka does not answer is unreadable or pending and is not an error.
func (c *Collector) Collect(ctx context.Context, kafka *kafkav1beta2.Kafka, request lifecycle.ObserveRequest) (Snapshot, error) {
	v := Snapshot{Now: request.Now, Options: c.Options, Table: c.Table, drains: Drains(kafka)}
	kept := c.memories.of(kafka.UID)
	kept.selections = selectionsOf(kafka, kept.selections)
	if err := v.Objects.read(ctx, kafka, request, kept.selections); err != nil {
		return Snapshot{}, err
	}
	d := deriver{kafka: kafka, snapshot: &v, entries: &c.entries, records: kept.records}
	d.derive()
	kept.endpoint, kept.records = endpointOf(kafka, v.Nodes, kept.endpoint), d.records
	c.memories.keep(kafka.UID, kept)
	if err := v.findMoved(ctx, kafka, request); err != nil {
		return Snapshot{}, err
	}
	c.observe(ctx, kafka, &v, request, kept.endpoint.endpoint)
	if !request.Live && request.Wants(dynamicconfig.NeedSettings) {
		kept.unanswered = isPending(v.Settings)
		c.memories.keep(kafka.UID, kept)
	}
	v.unanswered = kept.unanswered
	if v.asksForIDs {
		d.assign()
	}
	v.Rendered = c.rendered.cluster(kafka.UID, v.RenderInput(kafka))
	if request.Wants(noderoll.NeedSlot) {
		v.Slot = c.Fleet.Fact(ctx, kafka, request.Now)
	}
	return v, nil
}

// findMoved reads the pools of observed nodes that no longer have the cluster's label: they were deleted or belong to another
// cluster.
func (v *Snapshot) findMoved(ctx context.Context, kafka *kafkav1beta2.Kafka, request lifecycle.ObserveRequest) error {
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if _, found := v.Moved[n.Pool]; found || !n.Pod.Exists || v.Pool(n.Pool) != nil {
			continue
		}
		pool := &kafkav1beta2.KafkaNodePool{}
		switch err := request.Read.Get(ctx, client.ObjectKey{Namespace: kafka.Namespace, Name: n.Pool}, pool); {
		case lifecycle.ObjectMissing(err):
		case errors.Is(err, lifecycle.ErrStale):
			return err
		case err != nil:
			return fmt.Errorf("reading KafkaNodePool %s/%s, whose nodes run: %w", kafka.Namespace, n.Pool, err)
		default:
			if v.Moved == nil {
				v.Moved = map[string]string{}
			}
			v.Moved[n.Pool] = pool.Labels[labels.Cluster]
		}
	}
	return nil
}

// Cleanup drops the state of a deleted cluster and closes the connections to it.
func (c *Collector) Cleanup(cluster types.UID) {
	c.ForgetRendered(cluster)
	c.entries.drop(cluster)
	c.memories.drop(cluster)
	c.System.Drop(cluster)
}

// ForgetRendered drops the rendered objects of a cluster, so that its next observation renders them again.
func (c *Collector) ForgetRendered(cluster types.UID) { c.rendered.drop(cluster) }

// read lists the objects with the cluster's labels. A live observation omits the objects that only Apply and Repair need.
func (o *Objects) read(ctx context.Context, kafka *kafkav1beta2.Kafka, request lifecycle.ObserveRequest, selections *selections) error {
	var lists struct {
		pools       kafkav1beta2.KafkaNodePoolList
		podSets     corev1beta2.StrimziPodSetList
		pods        corev1.PodList
		configMaps  corev1.ConfigMapList
		claims      corev1.PersistentVolumeClaimList
		services    corev1.ServiceList
		accounts    corev1.ServiceAccountList
		budgets     policyv1.PodDisruptionBudgetList
		deployments appsv1.DeploymentList
	}
	for _, read := range [...]struct {
		list       client.ObjectList
		of         []client.ListOption
		omitIfLive bool
	}{
		{&lists.pools, selections.ofCluster, false}, {&lists.podSets, selections.nodes, false}, {&lists.pods, selections.nodes, false},
		{&lists.configMaps, selections.nodes, false}, {&lists.claims, selections.nodes, false}, {&lists.budgets, selections.nodes, false},
		{&lists.services, selections.nodes, true}, {&lists.accounts, selections.nodes, true}, {&lists.deployments, selections.ofKind, true},
	} {
		if read.omitIfLive && request.Live {
			continue
		}
		err := request.Read.List(ctx, read.list, read.of...)
		switch {
		case errors.Is(err, lifecycle.ErrStale):
			return err
		case err != nil:
			return fmt.Errorf("listing %T of Kafka %s/%s: %w", read.list, kafka.Namespace, kafka.Name, err)
		}
	}
	*o = Objects{
		Pools: sorted(lists.pools.Items), PodSets: sorted(lists.podSets.Items), Pods: sorted(lists.pods.Items), ConfigMaps: sorted(lists.configMaps.Items),
		Claims: sorted(lists.claims.Items), Services: sorted(lists.services.Items), Accounts: sorted(lists.accounts.Items), Budgets: sorted(lists.budgets.Items),
		Deployments: sorted(lists.deployments.Items),
	}
	return nil
}

func selector(of map[string]string) client.ListOption {
	return client.MatchingLabelsSelector{Selector: apilabels.SelectorFromValidatedSet(of)}
}

// LiveTimeout limits all live requests of one observation together. It is far below the renew deadline of the lease, and below the time of
// an observation (lifecycle.Options.ObserveTimeout): the Node of a broker that did not answer is read afterwards.
const LiveTimeout = 4 * time.Second

// endpointWith returns the endpoint with the addresses of every node that has a pod, for the roles of its pod.
func endpointWith(kafka *kafkav1beta2.Kafka, nodes []Node) connection.Endpoint {
	e := connection.EndpointOf(kafka)
	e.Nodes = make(map[int32]kafkaclient.NodeAddress, len(nodes))
	for i := range nodes {
		n := &nodes[i]
		host := render.Host(kafka.Namespace, kafka.Name, n.PodName)
		var at kafkaclient.NodeAddress
		if n.RolesRunning.Broker {
			at.Broker = host + ":" + strconv.Itoa(render.PortReplication)
		}
		if n.RolesRunning.Controller {
			at.Controller = host + ":" + strconv.Itoa(render.PortControl)
		}
		if at != (kafkaclient.NodeAddress{}) {
			e.Nodes[n.ID] = at
		}
	}
	return e
}
