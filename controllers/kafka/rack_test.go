package kafka

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

const zone = "topology.kubernetes.io/zone"

// A broker gets its rack once it is scheduled, from the label of its Kubernetes node.
func TestRepairWritesTheRackOfAScheduledBroker(t *testing.T) {
	const missing = "no label " + zone + ": label the node, or change spec.kafka.rack.topologyKey"
	for name, tc := range map[string]struct {
		labels  map[string]string // of the node; nil for no node
		node    string            // on which the pod is
		live    error             // of the request for the node
		rack    string            // that the pod has before
		want    string
		wantErr string
	}{
		"a node with the label":             {labels: map[string]string{zone: "a"}, node: "worker", want: "a"},
		"a pod that is not scheduled":       {labels: map[string]string{zone: "a"}},
		"a rack that the pod has had":       {labels: map[string]string{zone: "b"}, node: "worker", rack: "a", want: "a"},
		"a node without the label":          {labels: map[string]string{}, node: "worker", wantErr: missing},
		"a node with an empty label":        {labels: map[string]string{zone: ""}, node: "worker", wantErr: missing},
		"a node that is gone":               {node: "worker", wantErr: "its node worker does not exist any more: delete the pod"},
		"a node that may not be read":       {node: "worker", live: apierrors.NewForbidden(corev1.Resource("nodes"), "worker", nil), wantErr: "which needs the right to get nodes"},
		"a node that cannot be read":        {node: "worker", live: errInjected, wantErr: "reading node worker for the rack of the broker: the connection was cut"},
		"no node that is there, but a rack": {node: "worker", rack: "a", want: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.inRacks()
			if tc.labels != nil {
				r.must(r.client.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker", Labels: tc.labels}}))
			}
			r.settle()
			pod := &corev1.Pod{}
			r.must(r.get(pod, podBroker))
			if tc.rack != "" {
				pod.Annotations[labels.Rack] = tc.rack
			}
			pod.Spec.NodeName = tc.node
			r.must(r.client.Update(t.Context(), pod))
			if tc.live != nil {
				r.effects.Live = unreadable{r.client, tc.live}
			}

			message := ""
			if err := r.repairCurrent(); err != nil {
				message = err.Error()
			}

			if tc.wantErr == "" && message != "" || !strings.Contains(message, tc.wantErr) {
				t.Errorf("repair failed with %q, want %q", message, tc.wantErr)
			}
			r.must(r.get(pod, podBroker))
			if diff := cmp.Diff(tc.want, pod.Annotations[labels.Rack]); diff != "" {
				t.Errorf("rack (-want +got):\n%s", diff)
			}
		})
	}
}

// A node without the label prevents nothing else.
func TestRepairWithoutARackRestoresTheRest(t *testing.T) {
	r := separate(t)
	r.inRacks()
	r.must(r.client.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker"}}))
	r.settle()
	pod := &corev1.Pod{}
	r.must(r.get(pod, podBroker))
	pod.Spec.NodeName = "worker"
	delete(pod.Annotations, labels.KafkaVersion)
	r.must(r.client.Update(t.Context(), pod))
	if err := r.repairCurrent(); err == nil {
		t.Error("repair did not report the label that is missing")
	}
	r.must(r.get(pod, podBroker))
	if diff := cmp.Diff("4.1.1", pod.Annotations[labels.KafkaVersion]); diff != "" {
		t.Errorf("version (-want +got):\n%s", diff)
	}
}

// While one broker waits for its rack, the spec of the others is applied, and the rack is written soon after the node got its label.
func TestABrokerWithoutARackStopsNothingElse(t *testing.T) {
	w := started(t, func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Rack = &kafkav1beta2.Rack{TopologyKey: zone} },
		declaredPool("controller", 1, roleController), declaredPool("broker", 2, roleBroker))
	worker := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker", Labels: map[string]string{zone: ""}}}
	w.must(w.client.Create(t.Context(), worker))
	pod := &corev1.Pod{}
	w.must(w.get(pod, "my-cluster-broker-0"))
	pod.Spec.NodeName = worker.Name
	w.must(w.client.Update(t.Context(), pod))
	w.step()
	w.edit("broker", func(p *kafkav1beta2.KafkaNodePool) {
		resize("2Gi")(p)
		p.Spec.Replicas = 3
	})
	for range 30 { // ten minutes, in which a back-off would have grown
		w.step()
	}
	want := map[string]string{"data-0-my-cluster-broker-0": "2Gi", "data-0-my-cluster-broker-1": "2Gi", "data-0-my-cluster-broker-3": "2Gi", "data-0-my-cluster-controller-2": "1Gi"}
	if diff := cmp.Diff(want, w.claims()); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if got := w.nodes(labels.BrokerRole, "true"); !slices.Equal(got, []int32{0, 1, 3}) {
		t.Errorf("brokers %v, want 0, 1 and 3", got)
	}
	if got := w.ready(); got.Reason != lifecycle.ChildrenFailed || !strings.Contains(got.Message, "node worker has no label "+zone) {
		t.Errorf("Ready is %s: %s: %s", got.Status, got.Reason, got.Message)
	}
	worker.Labels[zone] = "a"
	w.must(w.client.Update(t.Context(), worker))
	w.step()
	w.must(w.get(pod, "my-cluster-broker-0"))
	if got := pod.Annotations[labels.Rack]; got != "a" {
		t.Errorf("rack %q one reconcile after the label, want a", got)
	}
}

// A broker whose entry and pod are lost gets the rack of the Kubernetes node on which it is created again, also if the entry was restored
// from the pod that had another rack.
func TestRepairRestoresAnEntryWithoutItsRack(t *testing.T) {
	r := separate(t)
	r.inRacks()
	for worker, in := range map[string]string{"worker": "a", "other": "b"} {
		r.must(r.client.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: worker, Labels: map[string]string{zone: in}}}))
	}
	r.settle()
	schedule := func(on string) {
		t.Helper()
		pod := &corev1.Pod{}
		r.must(r.get(pod, podBroker))
		pod.Spec.NodeName = on
		r.must(r.client.Update(t.Context(), pod))
		r.settle()
	}
	schedule("worker")
	k := r.cluster()
	k.Spec.Kafka.Config["queued.max.requests"] = jsonOf("9") // the entry is not what would be rendered now
	r.must(r.client.Update(t.Context(), k))
	r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
	r.settle()
	pod := &corev1.Pod{}
	r.must(r.get(pod, podBroker))
	r.must(r.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	r.settle()
	schedule("other")
	r.must(r.get(pod, podBroker))
	if got := pod.Annotations[labels.Rack]; got != "b" {
		t.Errorf("rack %q, want b", got)
	}
}

// unreadable is a reader that answers every request for an object with an error.
type unreadable struct {
	client.Reader
	err error
}

func (u unreadable) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return u.err
}

func (r *rig) inRacks() {
	r.t.Helper()
	k := r.cluster()
	k.Spec.Kafka.Rack = &kafkav1beta2.Rack{TopologyKey: zone}
	r.must(r.client.Update(r.t.Context(), k))
}

// repairCurrent repeats Repair until its cache is current.
func (r *rig) repairCurrent() error {
	for range 10 {
		err := r.repair()
		if !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
			return err
		}
	}
	return errors.New("the cache stays outdated")
}
