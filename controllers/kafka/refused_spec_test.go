package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/controllers/kafka/facts"
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
