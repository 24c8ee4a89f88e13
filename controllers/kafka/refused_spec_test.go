package kafka

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/facts"
	"github.com/detent-dev/detent/controllers/kafka/status"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// unsupported makes the spec one that cannot be applied, for a reason that no broker has a part in; and the way back.
func (w *world) unsupported(is bool) {
	w.t.Helper()
	k := w.cluster()
	k.Spec.Kafka.Authorization = nil
	if is {
		k.Spec.Kafka.Authorization = &kafkav1beta2.Opaque{}
	}
	k.Generation++
	w.must(w.client.Update(w.t.Context(), k))
}

// No broker that runs is removed by a spec that cannot be applied.
func TestRefusedSpecRemovesNoBroker(t *testing.T) {
	brokers := func(change func(*kafkav1beta2.KafkaNodePool)) func(*world) {
		return func(w *world) { w.edit("brokers", change) }
	}
	none := brokers(func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 0 })
	for name, tc := range map[string]struct {
		roles  []kafkav1beta2.NodeRole
		change func(*world)
	}{
		"the only pool of brokers gets no nodes": {roles: []kafkav1beta2.NodeRole{roleBroker}, change: none},
		"the only pool of brokers gets no nodes, and the check is skipped": {roles: []kafkav1beta2.NodeRole{roleBroker}, change: func(w *world) {
			w.setAnnotation(&kafkav1beta2.Kafka{}, "my-cluster", facts.AnnotationSkipCheck, "true")
			none(w)
		}},
		"the only pool of brokers is deleted": {roles: []kafkav1beta2.NodeRole{roleBroker}, change: func(w *world) {
			w.remove(&kafkav1beta2.KafkaNodePool{}, "brokers")
		}},
		"every pool is deleted": {roles: []kafkav1beta2.NodeRole{roleBroker}, change: func(w *world) {
			w.remove(&kafkav1beta2.KafkaNodePool{}, "brokers")
			w.remove(&kafkav1beta2.KafkaNodePool{}, "controllers")
		}},
		"the only brokers lose their role": {
			roles:  []kafkav1beta2.NodeRole{roleController, roleBroker},
			change: brokers(func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Roles = []kafkav1beta2.NodeRole{roleController} }),
		},
		"a pool shrinks while the spec has an unrelated error": {roles: []kafkav1beta2.NodeRole{roleBroker}, change: func(w *world) {
			w.unsupported(true)
			w.edit("brokers", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 2 })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, nil, declaredPool("brokers", 3, tc.roles...), declaredPool("controllers", 3, roleController))
			tc.change(w)
			w.run(60)
			if diff := cmp.Diff([]int32{0, 1, 2}, w.nodes(labels.BrokerRole, "true")); diff != "" {
				t.Errorf("brokers (-want +got):\n%s", diff)
			}
			for _, id := range w.nodes(labels.BrokerRole, "true") {
				if n := w.snapshot(false).Node(id); n.Record.Stop || len(w.kafka.unregistered) > 0 {
					t.Errorf("%s was stopped or unregistered: %+v, %v", n.PodName, n.Record, w.kafka.unregistered)
				}
			}
		})
	}
}

// A broker that was stopped before the spec was refused is unregistered meanwhile, and the next one leaves once the spec is corrected.
func TestRefusedSpecEndsAnEarlierRemoval(t *testing.T) {
	w := started(t, nil, declaredPool("brokers", 5, roleBroker), declaredPool("controllers", 3, roleController))
	w.edit("brokers", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas = 3 })
	for range 40 {
		w.step()
		if w.record("my-cluster-brokers-4").Stop {
			break
		}
	}
	w.unsupported(true)
	w.run(60)
	if diff := cmp.Diff([]int32{4}, w.kafka.unregistered); diff != "" {
		t.Errorf("unregistered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{0, 1, 2, 3}, w.nodes(labels.BrokerRole, "true")); diff != "" {
		t.Errorf("brokers while the spec is refused (-want +got):\n%s", diff)
	}
	w.unsupported(false)
	w.run(60)
	if diff := cmp.Diff([]int32{0, 1, 2}, w.nodes(labels.BrokerRole, "true")); diff != "" {
		t.Errorf("brokers after the correction (-want +got):\n%s", diff)
	}
}

// Names that are too long are found before anything is started, while the pool can still be replaced.
func TestPoolWithALongNameIsReplacedBeforeTheStart(t *testing.T) {
	long := "controllers-" + strings.Repeat("x", 40)
	for name, roles := range map[string][]kafkav1beta2.NodeRole{"of controllers": {roleController}, "of both roles": {roleController, roleBroker}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(declared(t, func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Version = "4.3.1" },
				declaredPool("brokers", 3, roleBroker), declaredPool(long, 3, roles...)))
			w.run(20)
			if pods := w.pods(); len(pods) > 0 {
				t.Fatalf("%d pods were started", len(pods))
			}
			if wrong := specErrorOf(w.cluster(), w.snapshot(false)); wrong == nil || wrong.Reason != "NameTooLong" {
				t.Fatalf("the spec is refused for %v", wrong)
			}
			w.remove(&kafkav1beta2.KafkaNodePool{}, long)
			w.must(w.client.Create(t.Context(), declaredPool("controllers", 3, roles...)))
			w.rest(80)
			if diff := cmp.Diff(w.nodes(labels.ControllerRole, "true"), w.voters()); diff != "" || len(w.voters()) != 3 {
				t.Errorf("voters %v (-controllers that run +voters):\n%s", w.voters(), diff)
			}
		})
	}
}

// A pool with such a name that is added to a cluster that runs changes nothing else of it.
func TestPoolWithALongNameBesideNodesThatRun(t *testing.T) {
	w := started(t, nil, declaredPool("brokers", 3, roleBroker), declaredPool("controllers", 3, roleController))
	w.must(w.client.Create(t.Context(), declaredPool("brokers-"+strings.Repeat("x", 50), 1, roleBroker)))
	w.run(40)
	v := w.snapshot(false)
	if wrong := specErrorOf(w.cluster(), v); wrong != nil || len(w.pods()) != 6 {
		t.Errorf("%d pods, and the spec is refused: %v", len(w.pods()), wrong)
	}
	if n := v.Node(6); n == nil || n.Entry.Exists || !slices.Contains(w.warnings(), "NameTooLong") {
		t.Errorf("node %+v, warnings %v", n, w.warnings())
	}
}

// The controllers of a cluster whose pods were made and never ran cannot be replaced, but it has no data, and starts over when it is applied again.
func TestClusterWhosePodsNeverRanIsAppliedAgain(t *testing.T) {
	w := newWorld(declared(t, func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Version = "4.3.1" },
		declaredPool("brokers", 3, roleBroker), declaredPool("first", 3, roleController)))
	w.unscheduled = func(string) bool { return true }
	w.run(20)
	k := w.cluster()
	w.remove(&kafkav1beta2.KafkaNodePool{}, "first")
	w.must(w.client.Create(t.Context(), declaredPool("second", 3, roleController)))
	w.run(20)
	const remedy = "it can also be deleted with its PersistentVolumeClaims and applied again"
	if wrong := specErrorOf(w.cluster(), w.snapshot(false)); wrong == nil || !strings.Contains(wrong.Message, remedy) {
		t.Errorf("the spec is refused for %v, want the remedy: %s", wrong, remedy)
	}
	if meta.IsStatusConditionTrue(w.cluster().Status.Conditions, status.VersionSettled) {
		t.Error("the version is settled without a controller")
	}
	w.deleteAll()
	w.unscheduled = nil
	again := &kafkav1beta2.Kafka{ObjectMeta: k.ObjectMeta, Spec: k.Spec}
	again.UID, again.ResourceVersion, again.Finalizers = "second-uid", "", nil
	for _, o := range []client.Object{again, declaredPool("brokers", 3, roleBroker), declaredPool("second", 3, roleController)} {
		w.must(w.client.Create(t.Context(), o))
	}
	w.rest(80)
	if diff := cmp.Diff(w.nodes(labels.ControllerRole, "true"), w.voters()); diff != "" || len(w.voters()) != 3 {
		t.Errorf("voters %v (-controllers that run +voters):\n%s", w.voters(), diff)
	}
}
