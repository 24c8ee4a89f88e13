package kafka

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/nodeids"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// scale changes the replicas of a pool, as kubectl scale does.
func (r *rig) scale(pool string, replicas int32) {
	r.t.Helper()
	p := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(p, pool))
	p.Spec.Replicas = replicas
	p.Generation++
	r.must(r.client.Update(r.t.Context(), p))
}

// list writes ids into the status of a pool, as anybody may who may edit it.
func (r *rig) list(pool string, ids ...int32) {
	r.t.Helper()
	p := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(p, pool))
	p.Status.NodeIDs = ids
	r.must(r.client.Status().Update(r.t.Context(), p))
}

// ids in the status of a pool.
func (r *rig) ids(pool string) []int32 {
	r.t.Helper()
	p := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(p, pool))
	return p.Status.NodeIDs
}

func (r *rig) podNames() []string {
	r.t.Helper()
	var names []string
	for _, pod := range r.pods() {
		names = append(names, strings.TrimPrefix(pod.Name, "my-cluster-"))
	}
	return names
}

// run lets the operator as it is shipped, the pod sets and the kubelet run for a number of rounds.
func (r *rig) run(rounds int) {
	r.t.Helper()
	reconciler := r.reconciler(r.t, r.client, r.client)
	for range rounds {
		for _, step := range []func() error{func() error { return pass(r.t, reconciler, r.key) }, r.podSets} {
			if err := step(); err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
				r.t.Fatal(err)
			}
		}
		r.kubelet()
		r.clock.Step(10 * time.Second)
	}
}

// running is a cluster of three brokers, 0 to 2, and three controllers, 3 to 5, at rest.
func running(t testing.TB) *rig {
	t.Helper()
	r := separate(t)
	r.rest(t)
	r.written()
	r.kafka.asked = nil
	return r
}

var six = []string{"broker-0", "broker-1", "broker-2", "controller-3", "controller-4", "controller-5"}

// A pool that grows gets the node that it lacks, on an id that nothing has: no node, no disk, and no registration with Kafka, of
// which a broker that no status lists may be the last trace.
func TestApplyScaleUpCreatesTheNode(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*rig)
		want   string
		ids    []int32
	}{
		"the lowest free id": {want: "broker-6", ids: []int32{0, 1, 2, 6}},
		"an id that is registered and fenced": {
			change: func(r *rig) {
				r.kafka.brokers.Brokers = append(r.kafka.brokers.Brokers, kafkaclient.Broker{ID: 6, Fencing: kafkaclient.Fenced})
			},
			want: "broker-7", ids: []int32{0, 1, 2, 7},
		},
		"an id that votes": {
			change: func(r *rig) { r.kafka.quorum.Voters = append(r.kafka.quorum.Voters, voterOf(6, 1)) },
			want:   "broker-7", ids: []int32{0, 1, 2, 7},
		},
		"an id that observes the quorum": {
			change: func(r *rig) { r.kafka.quorum.Observers = append(r.kafka.quorum.Observers, voterOf(6, 1)) },
			want:   "broker-7", ids: []int32{0, 1, 2, 7},
		},
		"an id that is missing from a partition, where Kafka does not list fenced brokers": {
			change: func(r *rig) {
				r.kafka.partitions.Add(kafkaclient.Partition{Topic: "t", Replicas: []int32{0, 6}, ISR: []int32{0}})
			},
			want: "broker-7", ids: []int32{0, 1, 2, 7},
		},
		"an id that was listed and is registered": {
			change: func(r *rig) {
				r.list("broker", 0, 1, 2, 6)
				r.kafka.brokers.Brokers = append(r.kafka.brokers.Brokers, brokerOf(6))
			},
			want: "broker-7", ids: []int32{0, 1, 2, 6, 7},
		},
		"an id that was listed and is free": {
			change: func(r *rig) { r.list("broker", 0, 1, 2, 9) }, want: "broker-9", ids: []int32{0, 1, 2, 9},
		},
		"an id that is asked for and registered": {
			change: func(r *rig) {
				p := &kafkav1beta2.KafkaNodePool{}
				r.must(r.get(p, "broker"))
				p.Annotations = map[string]string{labels.NextNodeIDs: "[10-11]"}
				r.must(r.client.Update(r.t.Context(), p))
				r.kafka.brokers.Brokers = append(r.kafka.brokers.Brokers, kafkaclient.Broker{ID: 10, Fencing: kafkaclient.Fenced})
			},
			want: "broker-11", ids: []int32{0, 1, 2, 11},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := running(t)
			if tc.change != nil {
				tc.change(r)
			}
			r.scale("broker", 4)
			r.run(12)
			want := slices.Sorted(slices.Values(append(slices.Clone(six), tc.want)))
			if diff := cmp.Diff(want, r.podNames()); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.ids, r.ids("broker")); diff != "" {
				t.Errorf("ids of the pool (-want +got):\n%s", diff)
			}
			if got := r.record("my-cluster-" + tc.want).Version; got == "" {
				t.Error("the record of the new node does not say that it was started")
			}
		})
	}
}

// While Kafka does not answer, an assignment waits and reports it. Everything else continues, and the wait writes nothing.
func TestApplyScaleUpWaitsForKafka(t *testing.T) {
	r := running(t)
	r.kafka.err = errors.New("connection refused")
	r.scale("broker", 4)
	r.run(6)
	r.remove(&corev1.Service{}, "my-cluster-kafka-bootstrap")
	r.losePod(podBroker)
	r.run(6)
	if diff := cmp.Diff(six, r.podNames()); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	r.must(r.get(&corev1.Service{}, "my-cluster-kafka-bootstrap"))
	if diff := cmp.Diff([]int32{0, 1, 2}, r.ids("broker")); diff != "" {
		t.Errorf("ids of the pool (-want +got):\n%s", diff)
	}
	pool := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(pool, "broker"))
	for where, conditions := range map[string][]metav1.Condition{"Kafka": r.cluster().Status.Conditions, "pool": pool.Status.Conditions} {
		i := slices.IndexFunc(conditions, func(c metav1.Condition) bool { return c.Reason == nodeids.ReasonWithheld })
		if i < 0 || !strings.Contains(conditions[i].Message, "1 of its 4 nodes") || !strings.Contains(conditions[i].Message, "its registered brokers, the voters of its quorum") {
			t.Errorf("conditions of the %s do not say what the assignment waits for: %+v", where, conditions)
		}
	}
	ready := meta.FindStatusCondition(r.cluster().Status.Conditions, lifecycle.Ready)
	if ready == nil || ready.Status != metav1.ConditionFalse || !strings.Contains(ready.Message, "1 new nodes of KafkaNodePool broker (without a node id)") {
		t.Errorf("Ready while a new node has no id: %+v", ready)
	}
	r.written()
	r.run(20)
	if w := r.written(); len(w) > 0 {
		t.Errorf("writes while waiting: %v", w)
	}
	r.kafka.err = nil
	r.run(6)
	if diff := cmp.Diff([]int32{0, 1, 2, 6}, r.ids("broker")); diff != "" {
		t.Errorf("ids of the pool (-want +got):\n%s", diff)
	}
	if !slices.Contains(r.podNames(), "broker-6") {
		t.Errorf("pods %v, want broker-6 among them", r.podNames())
	}
}

// An assigned id that Kafka came to know before its node was created is not used, and while Kafka is silent its node is not created.
func TestApplyConfirmsAnAssignedIDBeforeItCreatesTheNode(t *testing.T) {
	r := running(t)
	r.scale("broker", 4)
	r.run(1)
	if diff := cmp.Diff([]int32{0, 1, 2, 6}, r.ids("broker")); diff != "" {
		t.Fatalf("ids of the pool (-want +got):\n%s", diff)
	}
	r.kafka.err = errors.New("connection refused")
	r.run(4)
	if diff := cmp.Diff(six, r.podNames()); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	r.kafka.err = nil
	r.kafka.brokers.Brokers = append(r.kafka.brokers.Brokers, brokerOf(6))
	r.run(8)
	if names := r.podNames(); slices.Contains(names, "broker-6") || !slices.Contains(names, "broker-7") {
		t.Errorf("pods %v, want broker-7 and not broker-6", names)
	}
}

// An id that was edited into the status of a pool is no node: it displaces none, and no node is created on it.
func TestApplyCreatesNoNodeFromAnEditedStatus(t *testing.T) {
	for name, edit := range map[string]func(*rig){
		"above those of brokers":     func(r *rig) { r.list("broker", 0, 1, 2, 99) },
		"below those of controllers": func(r *rig) { r.list("controller", 3, 4, 5, 99) },
		"instead of a broker":        func(r *rig) { r.list("broker", 0, 1, 99) },
		"instead of a controller":    func(r *rig) { r.list("controller", 4, 5, 99) },
	} {
		t.Run(name, func(t *testing.T) {
			r := running(t)
			edit(r)
			r.run(6)
			if diff := cmp.Diff(six, r.podNames()); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			v := r.snapshot(false)
			for i := range v.Nodes {
				if n := &v.Nodes[i]; !n.Wanted || n.ID == 99 {
					t.Errorf("node %+v", n)
				}
			}
			for _, w := range r.written() {
				if !strings.HasPrefix(w, "update-status ") {
					t.Errorf("%s", w)
				}
			}
		})
	}
}

// Before the first broker has run no process could answer, and at rest there is nothing to ask.
func TestCollectReadsRegistrationsOnlyForAnAssignment(t *testing.T) {
	r := separate(t)
	r.kafka.err = errors.New("connection refused")
	r.must(r.pass())
	r.must(r.pass())
	r.must(r.pass())
	if diff := cmp.Diff([]int32{0, 1, 2}, r.ids("broker")); diff != "" {
		t.Errorf("ids of a first start (-want +got):\n%s", diff)
	}
	if len(r.kafka.asked) > 0 {
		t.Errorf("a first start asks Kafka for %v", r.kafka.asked)
	}
	r.kafka.err = nil
	r.registered()
	r.settle()
	r.kafka.asked = nil
	r.must(r.pass())
	if len(r.kafka.asked) > 0 {
		t.Errorf("at rest Kafka is asked for %v", r.kafka.asked)
	}
	r.scale("broker", 4)
	r.snapshot(true)
	if len(r.kafka.asked) > 0 {
		t.Errorf("a live snapshot, on which nothing is assigned, asks Kafka for %v", r.kafka.asked)
	}
	r.snapshot(false)
	if diff := cmp.Diff([]string{"quorum", "partitions", "brokers"}, r.kafka.asked); diff != "" {
		t.Errorf("questions for an assignment (-want +got):\n%s", diff)
	}
}

// A cluster of which only disks are left starts on them without an answer; what it declares beyond them waits until it runs.
func TestApplyStartsDisksBeforeTheClusterAnswers(t *testing.T) {
	r := separate(t)
	r.settle()
	for _, name := range r.podNames() {
		r.remove(&corev1.Pod{}, "my-cluster-"+name)
		r.remove(&corev1.ConfigMap{}, "my-cluster-"+name)
		r.remove(&corev1.ConfigMap{}, "my-cluster-"+name+"-record")
	}
	for _, set := range []string{setBroker, "my-cluster-controller"} {
		r.remove(&corev1beta2.StrimziPodSet{}, set)
	}
	r.wipe()
	r.kafka.err = errors.New("connection refused")
	r.scale("broker", 4)
	r.settle()
	if diff := cmp.Diff(six, r.podNames()); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	r.kafka.err = nil
	r.registered()
	r.settle()
	if !slices.Contains(r.podNames(), "broker-6") {
		t.Errorf("pods %v, want broker-6 among them", r.podNames())
	}
}

// A record or a disk that the cache does not show yet ends an assignment: its id may be the one that is about to be given.
func TestApplyAssignsNoIDWithAMissingClaim(t *testing.T) {
	for name, unseen := range map[string]client.Object{
		"a record": &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "my-cluster-broker-6-record"}},
		"a disk":   &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-0-my-cluster-broker-6"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := running(t)
			r.scale("broker", 4)
			k, v := r.cluster(), r.snapshot(false)
			unseen.SetNamespace(r.key.Namespace)
			unseen.SetLabels(map[string]string{labels.Cluster: r.key.Name, labels.Kind: labels.KindKafka, labels.Name: labels.KafkaName(r.key.Name), labels.Pool: "broker"})
			r.must(r.client.Create(t.Context(), unseen))
			err := r.effects.Apply(t.Context(), k, v, r.children.Writer(k, nil), r.version)
			if !errors.Is(err, lifecycle.ErrStale) {
				t.Errorf("error %v, want %v", err, lifecycle.ErrStale)
			}
			if diff := cmp.Diff([]int32{0, 1, 2}, r.ids("broker")); diff != "" {
				t.Errorf("ids of the pool (-want +got):\n%s", diff)
			}
		})
	}
}
