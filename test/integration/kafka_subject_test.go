package integration

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkacontroller "github.com/detent-dev/detent/controllers/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/crds"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/noderoll"
	"github.com/detent-dev/detent/machines/nodestorage"
	"github.com/detent-dev/detent/machines/roll"
)

// clusters are the subject of Kafka clusters.
type clusters struct{}

func (clusters) Name() string { return "kafka" }

func (clusters) PauseAnnotations() []string { return labels.Pauses() }

func (clusters) Graphs() map[string]machines.Graph {
	graphs := kafkaGraphs()
	delete(graphs, observation.LifecycleScaleDown) // its states need brokers that leave: removals
	return graphs
}

// kafkaGraphs returns the machines of Kafka whose states the laws visit, by the names of their lifecycles.
func kafkaGraphs() map[string]machines.Graph {
	graphs, err := kafkacontroller.Machines()
	Expect(err).NotTo(HaveOccurred())
	out := map[string]machines.Graph{}
	ownSpecs := 0
	for _, g := range graphs {
		switch g.Name {
		case nodestorage.Name: // it has one target, and its states need a lost volume: kafka_storage_test.go
			ownSpecs++
		case dynamicconfig.Name:
			out[observation.LifecycleConfiguration] = g
		case kafkaversion.Name:
			out[observation.LifecycleVersion] = g
		case noderoll.Name:
			out[observation.LifecycleRoll] = g
		case kraftscaledown.Name:
			out[observation.LifecycleScaleDown] = g
		}
	}
	Expect(out).To(HaveLen(len(graphs)-ownSpecs), "a machine of Kafka is not tested")
	return out
}

func (clusters) Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return crds.Definitions()
}

func (clusters) AddToScheme(scheme *k8sruntime.Scheme) error {
	if err := kafkav1beta2.AddToScheme(scheme); err != nil {
		return err
	}
	return corev1beta2.AddToScheme(scheme)
}

func (clusters) List() client.ObjectList { return &kafkav1beta2.KafkaList{} }

func (clusters) Children() []client.Object {
	return []client.Object{
		&kafkav1beta2.KafkaNodePool{}, &corev1beta2.StrimziPodSet{}, &corev1.Pod{}, &corev1.ConfigMap{}, &corev1.PersistentVolumeClaim{}, &corev1.Service{},
	}
}

// Reservations are the laws that are not tested on whole clusters yet, each with the reason.
func (clusters) Reservations() map[string]string {
	return map[string]string{
		lawMany:  "separate specs count the writes of a whole version change",
		lawCrash: byCampaign,
	}
}

// Matters reports whether a law is tested in a state.
func (clusters) Matters(law, state string) bool {
	switch state {
	case dynamicconfig.Remembering, dynamicconfig.Altering, dynamicconfig.AwaitingRetry, dynamicconfig.Forgetting:
	default:
		return true
	}
	switch law {
	case lawSilence: // a request that is not answered ends after its time limit, which is no silence
		return state != dynamicconfig.Altering
	case lawKill: // a new operator waits until a request of the previous one cannot take effect any more: kafka_configuration_test.go
		return state != dynamicconfig.Forgetting
	case lawData, lawLoss: // it has no data, and pods store nothing of it
		return false
	case lawPause, lawUnknown:
		return state == dynamicconfig.Altering
	case lawStale, lawChildren, lawFailOver: // an effect follows when nothing hinders it
		return state == dynamicconfig.Remembering || state == dynamicconfig.Altering
	}
	return true
}

func (clusters) World() World { return newEstate() }

// Visits are visits to every state of the machines. Inferring is never entered, because the state of each can always be
// inferred.
func (clusters) Visits() []Visit {
	var out []Visit
	for _, state := range []string{
		kafkaversion.Settled, kafkaversion.Checking, kafkaversion.Refusing, kafkaversion.AwaitingSnapshot,
		roll.SelectingNode, roll.AwaitingQuorum, roll.AwaitingISR, roll.RestartingNode, roll.AwaitingReady, roll.AwaitingInSync,
		kafkaversion.Verifying, kafkaversion.AwaitingUnregistration, kafkaversion.Soaking, kafkaversion.AwaitingApproval,
		kafkaversion.SettingMetadata, kafkaversion.MetadataRefused,
	} {
		out = append(out, Visit{Lifecycle: observation.LifecycleVersion, State: state})
	}
	for _, state := range []string{
		noderoll.Settled, noderoll.AwaitingSlot, roll.SelectingNode, roll.AwaitingQuorum, roll.AwaitingISR, roll.RestartingNode, roll.AwaitingReady, roll.AwaitingInSync,
	} {
		out = append(out, Visit{Lifecycle: observation.LifecycleRoll, State: state})
	}
	for _, state := range []string{
		dynamicconfig.Settled, dynamicconfig.Remembering, dynamicconfig.Altering, dynamicconfig.AwaitingRetry, dynamicconfig.Refusing, dynamicconfig.Forgetting,
	} {
		out = append(out, Visit{Lifecycle: observation.LifecycleConfiguration, State: state})
	}
	return out
}

// The versions between which clusters change in these tests.
const (
	oldest     = "4.0.0"
	old        = "4.1.1"
	newer      = "4.2.0"
	newest     = "4.3.1"
	nowhere    = "4.9.9" // in no table
	oldLevel   = "4.0-IV3"
	newerLevel = "4.1-IV1"
)

// kafkaOf returns a cluster of a version. metadata may be empty.
func kafkaOf(namespace, name, version, metadata string, nodes int) *kafkav1beta2.Kafka {
	minISR := max(1, nodes-1)
	k := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	k.Spec.Kafka = kafkav1beta2.KafkaClusterSpec{
		Version: version, MetadataVersion: metadata,
		Listeners: []kafkav1beta2.Listener{{Name: "plain", Port: 9092, Type: "internal"}},
		Config: map[string]apiextensionsv1.JSON{
			//   A restarted broker counts only after the session of the previous process has timed out: 0.45 s in this world.
			"broker.session.timeout.ms": value(1000), "default.replication.factor": value(nodes), "min.insync.replicas": value(minISR),
			"offsets.topic.replication.factor": value(nodes), "transaction.state.log.replication.factor": value(nodes), "transaction.state.log.min.isr": value(minISR),
		},
	}
	return k
}

func value(v any) apiextensionsv1.JSON {
	raw, err := json.Marshal(v)
	Expect(err).NotTo(HaveOccurred())
	return apiextensionsv1.JSON{Raw: raw}
}

// poolOf returns a pool of the cluster. Its pods are named after both.
func poolOf(cluster client.ObjectKey, name string, nodes int, roles ...kafkav1beta2.NodeRole) *kafkav1beta2.KafkaNodePool {
	p := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster.Namespace, Name: name, Labels: map[string]string{labels.Cluster: cluster.Name},
	}}
	p.Spec = kafkav1beta2.KafkaNodePoolSpec{Replicas: int32(nodes), Roles: roles}
	p.Spec.Storage = kafkav1beta2.Storage{Type: "jbod", Volumes: []kafkav1beta2.Volume{{ID: 0, Type: "persistent-claim", Disk: kafkav1beta2.Disk{Size: "1Gi"}}}}
	return p
}

const (
	controllerRole = kafkav1beta2.RoleController
	brokerRole     = kafkav1beta2.RoleBroker
)

// visitNamed returns the lifecycle and state after which an object of a scene was named.
func visitNamed(name string) (lifecycle, state string) {
	lifecycle, state, _ = strings.Cut(name, "-")
	return lifecycle, state
}

// nodesOf is the number of nodes of an object of a scene: one, unless the test needs other nodes to prevent a restart.
func nodesOf(name string) int {
	switch _, state := visitNamed(name); state {
	case "selectingnode", "awaitingquorum", "awaitingisr", "awaitinginsync":
		return 3
	}
	return 1
}
