package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/simulator/kafka"
)

// shrinking is the world of Kafka clusters from which brokers are removed. Node 0 is controller and broker, nodes 1 and 2 are brokers of
// another pool, which a user lowers.
type shrinking struct{ *estate }

const (
	// leaver is the broker that is removed first.
	leaver int32 = 2
	// beforeFencingReported is a release that does not list fenced brokers.
	beforeFencingReported = "3.9.2"
)

// stateNamed returns the state after which a cluster of a scene was named.
func stateNamed(name string) string {
	for _, v := range (removals{}).Visits() {
		if strings.EqualFold(v.State, stateOf(name)) {
			return v.State
		}
	}
	return ""
}

// Make returns a cluster of a release that lists fenced brokers, unless the state requires one that does not.
func (shrinking) Make(namespace, name string) lifecycle.Object {
	version := newest
	if stateNamed(name) == kraftscaledown.AwaitingSession {
		version = beforeFencingReported
	}
	return kafkaOf(namespace, name, version, "", 1)
}

// brokerPoolName comes after poolName, so that node 0 is the controller.
func brokerPoolName(cluster string) string { return "q" + poolName(cluster) }

// Companions are the pools.
func (shrinking) Companions(namespace, name string) []client.Object {
	key := client.ObjectKey{Namespace: namespace, Name: name}
	return []client.Object{
		poolOf(key, poolName(name), 1, controllerRole, brokerRole), poolOf(key, brokerPoolName(name), 2, brokerRole),
	}
}

// leaverPod is the pod of the broker that is removed first.
func leaverPod(cluster client.ObjectKey) string {
	return observation.PodName(cluster.Name, brokerPoolName(cluster.Name), leaver)
}

// scalePool sets the replicas of a pool.
func scalePool(pool client.ObjectKey, replicas int32) {
	ctx := context.Background()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		p := &kafkav1beta2.KafkaNodePool{}
		if err := admin.Get(ctx, pool, p); err != nil {
			return err
		}
		p.Spec.Replicas = replicas
		return admin.Update(ctx, p)
	})).To(Succeed())
}

func scaleControllers(cluster client.ObjectKey, replicas int32) {
	scalePool(client.ObjectKey{Namespace: cluster.Namespace, Name: poolName(cluster.Name)}, replicas)
}

func scaleBrokers(cluster client.ObjectKey, replicas int32) {
	scalePool(client.ObjectKey{Namespace: cluster.Namespace, Name: brokerPoolName(cluster.Name)}, replicas)
}

// Change lowers the replicas of a pool, and requests a drain if the state is one of a drain.
func (shrinking) Change(v Visit, object lifecycle.Object) {
	key := client.ObjectKeyFromObject(object)
	switch v.State {
	case kraftscaledown.Steady, kraftscaledown.Returning:
		return
	case kraftscaledown.Refusing:
		scaleControllers(key, 0)
		return
	case kraftscaledown.Cordoning, kraftscaledown.Draining, kraftscaledown.EndingDrain, kraftscaledown.DrainRefused:
		k := kafkaIn(object)
		metav1.SetMetaDataAnnotation(&k.ObjectMeta, observation.AnnotationDrain, "true")
	}
	scaleBrokers(key, 1)
}

// Another requests the broker that leaves again. If none leaves, it requests one less. It also changes the Kafka resource, in a field
// without an effect, so that its generation shows when the change was processed.
func (shrinking) Another(_ string, object lifecycle.Object) string {
	kafkaIn(object).Spec.MaintenanceTimeWindows = []string{"* * 0-1 * * ?"}
	key := client.ObjectKeyFromObject(object)
	switch stateNamed(object.GetName()) {
	case kraftscaledown.Steady, kraftscaledown.Refusing, kraftscaledown.Returning:
		scaleBrokers(key, 1)
		return "brokers 0, 1"
	case kraftscaledown.Releasing: // what is left of the node may be too little to keep its id
		scaleBrokers(key, 2)
		return ""
	default:
		scaleBrokers(key, 2)
		return "brokers 0, 1, 2"
	}
}

// End is also what Kafka knows of brokers, and what the records of the nodes say.
func (w shrinking) End(ctx context.Context, reader client.Reader, key client.ObjectKey) (string, error) {
	end, err := w.estate.End(ctx, reader, key)
	if err != nil {
		return "", err
	}
	var records corev1.ConfigMapList
	if err := reader.List(ctx, &records, client.InNamespace(key.Namespace), client.MatchingLabels{labels.Cluster: key.Name, labels.Record: labels.RecordNode}); err != nil {
		return "", err
	}
	var remembered []string
	for i := range records.Items {
		r, err := record.Decode(records.Items[i].Data)
		if err != nil {
			return "", fmt.Errorf("reading the record %s: %w", records.Items[i].Name, err)
		}
		remembered = append(remembered, fmt.Sprintf("%d leaving=%t stop=%t draining=%d", r.ID, r.Leaving, r.Stop, r.Draining))
	}
	slices.Sort(remembered)
	ids := registrations(key)
	lost := slices.DeleteFunc(holders(key), func(id int32) bool { return slices.Contains(ids, id) })
	var cordoned []int32
	outside.ask(key, func(c *kafka.Cluster) { cordoned = slices.Clone(c.Cordoned) })
	return fmt.Sprintf("%s; registered %v, cordoned %v, replicas elsewhere on %v; records %q", end, ids, cordoned, lost, remembered), nil
}
