package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/status"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

const (
	roleController = kafkav1beta2.RoleController
	roleBroker     = kafkav1beta2.RoleBroker
	// operatorVersion is what the operator of a world calls itself.
	operatorVersion = "this-operator"
)

// world is a cluster on which the whole operator runs, and a Kafka that serves as its pods do. Unlike the Kafka of a rig, it may have
// any nodes.
type world struct {
	*rig
	reconciler reconcile.Reconciler
	// registered are the ids of the registered brokers.
	registered map[int32]bool
	// fail is the answer to a request to unregister a broker; nil unregisters it.
	fail map[int32]error
	// errs are the errors of reconciles.
	errs []error
}

// started is a cluster on Kafka 4.3.1 with the pools, at rest.
func started(t *testing.T, change func(*kafkav1beta2.Kafka), pools ...*kafkav1beta2.KafkaNodePool) *world {
	t.Helper()
	w := newWorld(declared(t, func(k *kafkav1beta2.Kafka) {
		k.Spec.Kafka.Version = "4.3.1"
		if change != nil {
			change(k)
		}
	}, pools...))
	w.rest(80)
	return w
}

func newWorld(r *rig) *world {
	w := &world{rig: r, registered: map[int32]bool{}, fail: map[int32]error{}}
	r.collector.Options.OperatorVersion = operatorVersion
	r.kafka.features = kafkaclient.Features{Finalized: map[string]int16{"metadata.version": 30}}
	r.kafka.partitions = kafkaclient.Partitions{Replicas: map[int32]int{}}
	r.kafka.refuse = func(id int32) error { return w.fail[id] }
	w.reconciler = r.reconciler(r.t, r.client, r.client)
	return w
}

// rest lets everything run until the version is settled.
func (w *world) rest(passes int) {
	w.t.Helper()
	for range passes {
		w.step()
		if k := w.cluster(); meta.IsStatusConditionTrue(k.Status.Conditions, status.VersionSettled) && k.Status.OperatorLastSuccessfulVersion != "" {
			return
		}
	}
	w.t.Fatalf("the cluster does not come to rest: %+v", w.cluster().Status.Conditions)
}

// quiet is how many passes without a write show that nothing more happens: longer than every pause and age of evidence.
const quiet = 15

// run lets everything run for a number of passes, or until nothing more happens.
func (w *world) run(passes int) {
	w.t.Helper()
	for still := 0; passes > 0 && still < quiet; passes-- {
		before := len(w.writes)
		w.step()
		if len(w.writes) > before {
			still = 0
		} else {
			still++
		}
	}
}

func (w *world) step() {
	w.t.Helper()
	w.serve()
	if err := pass(w.t, w.reconciler, w.key); err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
		w.errs = append(w.errs, err)
	}
	if err := w.podSets(); err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
		w.errs = append(w.errs, err)
	}
	w.kubelet()
	w.clock.Step(20 * time.Second)
}

// serve lets Kafka report what runs: a broker with a pod is registered and alive, one without is fenced until it is unregistered.
func (w *world) serve() {
	now := w.clock.Now().UnixMilli()
	for _, id := range w.kafka.unregistered {
		if w.fail[id] == nil {
			delete(w.registered, id)
		}
	}
	quorum, alive := kafkaclient.Quorum{Leader: -1, HighWatermark: 100}, map[int32]bool{}
	for _, pod := range w.pods() {
		id := idOf(w.t, &pod)
		member := kafkaclient.QuorumReplica{ID: id, LogEndOffset: 100, LastCaughtUpMillis: now, LastFetchMillis: now}
		if alive[id] = pod.Labels[labels.BrokerRole] == "true"; alive[id] {
			w.registered[id] = true
		}
		if pod.Labels[labels.ControllerRole] != "true" {
			quorum.Observers = append(quorum.Observers, member)
			continue
		}
		quorum.Leader = max(quorum.Leader, id)
		quorum.Voters = append(quorum.Voters, member)
	}
	brokers := kafkaclient.Brokers{FencingReported: true}
	for id := range w.registered {
		fencing := kafkaclient.Fenced
		if alive[id] {
			fencing = kafkaclient.Unfenced
		}
		brokers.Brokers = append(brokers.Brokers, kafkaclient.Broker{ID: id, Epoch: 1, Fencing: fencing})
	}
	slices.SortFunc(brokers.Brokers, func(a, b kafkaclient.Broker) int { return int(a.ID - b.ID) })
	w.kafka.quorum, w.kafka.brokers = quorum, brokers
}

func idOf(t testing.TB, pod *corev1.Pod) int32 {
	t.Helper()
	var id int32
	if _, err := fmt.Sscan(pod.Name[strings.LastIndex(pod.Name, "-")+1:], &id); err != nil {
		t.Fatal(err)
	}
	return id
}

// nodes are the ids of the pods whose labels have a value, sorted; of all pods without a label.
func (w *world) nodes(label, value string) []int32 {
	w.t.Helper()
	var ids []int32
	for _, pod := range w.pods() {
		if label == "" || pod.Labels[label] == value {
			ids = append(ids, idOf(w.t, &pod))
		}
	}
	slices.Sort(ids)
	return ids
}

// edit changes the spec of a pool as a user does.
func (w *world) edit(pool string, change func(*kafkav1beta2.KafkaNodePool)) {
	w.t.Helper()
	p := &kafkav1beta2.KafkaNodePool{}
	w.must(w.get(p, pool))
	change(p)
	p.Generation++
	w.must(w.client.Update(w.t.Context(), p))
}

// onIDs lets a new pool get the ids.
func onIDs(p *kafkav1beta2.KafkaNodePool, ids []int32) *kafkav1beta2.KafkaNodePool {
	p.Annotations = map[string]string{labels.NextNodeIDs: listOf(ids)}
	p.Spec.Replicas = int32(len(ids))
	return p
}

// listOf writes the ids as the value of an annotation.
func listOf(ids []int32) string { return strings.ReplaceAll(fmt.Sprint(ids), " ", ",") }

// asked is how often Kafka was asked something.
func (w *world) asked(question string) int {
	n := 0
	for _, q := range w.kafka.asked {
		if strings.HasPrefix(q, question) {
			n++
		}
	}
	return n
}
