package observation

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/connection"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// memories keeps for each cluster what one observation has computed and the next one needs again. Each part is kept with the values
// that it was computed from, and is used only for equal ones. The exception is unanswered, which a live observation takes from the one
// before it.
type memories struct {
	mu       sync.Mutex
	clusters map[types.UID]memory
}

// memory of one cluster. The parts are not modified after they are kept.
type memory struct {
	selections *selections
	endpoint   *keptEndpoint
	records    []keptRecord
	// unanswered is true if the last observation that asked for the dynamic configurations still awaited the answer of a broker.
	unanswered bool
}

func (m *memories) of(cluster types.UID) memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clusters[cluster]
}

func (m *memories) keep(cluster types.UID, of memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clusters == nil || len(m.clusters) >= mostClusters {
		m.clusters = map[types.UID]memory{}
	}
	m.clusters[cluster] = of
}

func (m *memories) drop(cluster types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.clusters, cluster)
}

// selections are the options of the lists of a cluster's objects: all with the cluster's label, those of kind Kafka, and those of
// its nodes.
type selections struct {
	of                       types.NamespacedName
	ofCluster, ofKind, nodes []client.ListOption
}

// selectionsOf returns kept if it is the cluster's.
func selectionsOf(kafka *kafkav1beta2.Kafka, kept *selections) *selections {
	key := client.ObjectKeyFromObject(kafka)
	if kept != nil && kept.of == key {
		return kept
	}
	options := func(of map[string]string) []client.ListOption {
		return []client.ListOption{client.InNamespace(key.Namespace), selector(of), client.UnsafeDisableDeepCopy}
	}
	return &selections{
		of: key, ofCluster: options(map[string]string{labels.Cluster: key.Name}),
		ofKind: options(map[string]string{labels.Cluster: key.Name, labels.Kind: labels.KindKafka}),
		nodes:  options(labels.OfNodes(key.Name)),
	}
}

// keptEndpoint is an endpoint with what its addresses depend on.
type keptEndpoint struct {
	nodes    []addressed
	endpoint connection.Endpoint
}

// addressed is what the addresses of a node depend on.
type addressed struct {
	id    int32
	pod   string
	roles Roles
}

func addressedNode(n *Node) addressed { return addressed{n.ID, n.PodName, n.RolesRunning} }

// endpointOf returns kept if it is the endpoint of the cluster with these nodes.
func endpointOf(kafka *kafkav1beta2.Kafka, nodes []Node, kept *keptEndpoint) *keptEndpoint {
	if kept != nil && kept.endpoint.UID == kafka.UID && kept.endpoint.Name == client.ObjectKeyFromObject(kafka) &&
		slices.EqualFunc(kept.nodes, nodes, func(a addressed, n Node) bool { return a == addressedNode(&n) }) {
		return kept
	}
	fresh := &keptEndpoint{endpoint: endpointWith(kafka, nodes)}
	for i := range nodes {
		fresh.nodes = append(fresh.nodes, addressedNode(&nodes[i]))
	}
	return fresh
}

// keptRecord is the decoded data of a record.
type keptRecord struct {
	data   map[string]string
	record record.Record
	err    error
}

// decoded returns the kept records without change if one at the place has the data of the ConfigMap, and else with the new one at
// that place.
func decoded(kept []keptRecord, place int, m *corev1.ConfigMap) []keptRecord {
	if place < len(kept) && maps.Equal(kept[place].data, m.Data) {
		return kept
	}
	fresh := keptRecord{data: maps.Clone(m.Data)}
	fresh.record, fresh.err = record.Decode(m.Data)
	return append(slices.Clone(kept[:min(place, len(kept))]), fresh)
}
