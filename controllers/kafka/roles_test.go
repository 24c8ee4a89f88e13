package kafka

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/detent-dev/detent/controllers/kafka/nodeids"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// relabel sets the role labels of a pod as a user does; nil removes them.
func (r *rig) relabel(pod string, l map[string]string) {
	r.t.Helper()
	p := &corev1.Pod{}
	r.must(r.get(p, pod))
	delete(p.Labels, labels.BrokerRole)
	delete(p.Labels, labels.ControllerRole)
	maps.Copy(p.Labels, l)
	r.must(r.client.Update(r.t.Context(), p))
}

// If a user changes the role labels of a pod, the node keeps the roles with which its process was started, and one write restores
// the labels: otherwise clients would be sent to a pod that is not a broker.
func TestRepairRestoresRoleLabels(t *testing.T) {
	for name, l := range map[string]map[string]string{
		"a controller is labelled a broker":  observation.Roles{Broker: true}.Labels(),
		"a controller is labelled both":      observation.Roles{Broker: true, Controller: true}.Labels(),
		"a controller is labelled nothing":   {labels.BrokerRole: "false", labels.ControllerRole: "false"},
		"the labels of the role are removed": nil,
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.settle()
			before := &corev1.Pod{}
			r.must(r.get(before, podController))
			r.relabel(podController, l)
			r.writes = nil
			v := r.snapshot(false)
			if diff := cmp.Diff(observation.Roles{Controller: true}, v.Node(3).RolesRunning); diff != "" {
				t.Errorf("roles (-want +got):\n%s", diff)
			}
			r.settle()
			after := &corev1.Pod{}
			r.must(r.get(after, podController))
			if diff := cmp.Diff(before.Labels, after.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"update Pod " + podController}, r.written()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// An entry that is made again from its pod has the roles of the process, not those of labels that a user has edited.
func TestRepairRestoresEntryWithRunningRoles(t *testing.T) {
	r := separate(t)
	k := r.cluster()
	k.Spec.Kafka.Image = "example.com/kafka:old"
	r.must(r.client.Update(t.Context(), k))
	r.settle()
	r.changed() // so that the entry is made from the pod, and not rendered
	r.remove(&corev1beta2.StrimziPodSet{}, "my-cluster-controller")
	r.relabel(podController, observation.Roles{Broker: true}.Labels())
	r.must(r.repair())
	set := &corev1beta2.StrimziPodSet{}
	r.must(r.get(set, "my-cluster-controller"))
	for _, e := range set.Spec.Pods {
		pod, err := e.Pod()
		r.must(err)
		got := map[string]string{labels.BrokerRole: pod.Labels[labels.BrokerRole], labels.ControllerRole: pod.Labels[labels.ControllerRole]}
		if diff := cmp.Diff(observation.Roles{Controller: true}.Labels(), got); diff != "" {
			t.Errorf("roles of the entry of %s (-want +got):\n%s", pod.Name, diff)
		}
	}
}

// A pool that loses the role of its voters keeps all of them: the nodes that it declares less are in the static quorum.
func TestPoolWithoutTheRoleOfItsVotersKeepsThem(t *testing.T) {
	for name, replicas := range map[string]int32{"it shrinks": 1, "it gets no nodes": 0, "it grows": 3} {
		t.Run(name, func(t *testing.T) {
			w := started(t, nil, declaredPool("controllers", 1, roleController), declaredPool("dual", 2, roleController, roleBroker), declaredPool("workers", 2, roleBroker))
			before := w.nodes(labels.ControllerRole, "true")
			w.edit("dual", func(p *kafkav1beta2.KafkaNodePool) {
				p.Spec.Roles, p.Spec.Replicas = []kafkav1beta2.NodeRole{roleBroker}, replicas
			})
			w.run(40)
			if diff := cmp.Diff(before, w.nodes(labels.ControllerRole, "true")); diff != "" {
				t.Errorf("controllers (-want +got):\n%s", diff)
			}
			for i := range w.snapshot(false).Nodes {
				if n := &w.snapshot(false).Nodes[i]; !n.Wanted || n.Record.Leaving {
					t.Errorf("%s is not desired any more", n.PodName)
				}
			}
			if meta.IsStatusConditionTrue(w.cluster().Status.Conditions, lifecycle.Ready) {
				t.Error("the cluster is Ready")
			}
			if diff := cmp.Diff(true, slices.Contains(w.warnings(), nodeids.ReasonFrozen)); diff != "" {
				t.Errorf("warning %s (-want +got):\n%s", nodeids.ReasonFrozen, diff)
			}
		})
	}
}
