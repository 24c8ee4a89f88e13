package kafka

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Pods of another operator's set are adopted: judged by their version, annotated, not restarted.
func TestRepairAdoptsPods(t *testing.T) {
	r := separate(t)
	r.settle()
	var maps corev1.ConfigMapList
	r.must(r.client.List(t.Context(), &maps, client.HasLabels{labels.Record}))
	for i := range maps.Items {
		r.must(r.client.Delete(t.Context(), &maps.Items[i]))
	}
	r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
	for _, pod := range r.pods() {
		delete(pod.Annotations, labels.Revision)
		delete(pod.Annotations, labels.SnapshotInterval)
		pod.OwnerReferences = nil
		r.must(r.client.Update(t.Context(), &pod))
	}
	before := map[string]types.UID{}
	for _, pod := range r.pods() {
		before[pod.Name] = pod.UID
	}
	r.settle()
	v := r.snapshot(false)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		desired, err := v.Desired(n, "4.1.1")
		r.must(err)
		if n.Pod.UID != before[n.PodName] || n.Pod.Revision != desired || n.Entry.Revision != desired {
			t.Errorf("node %d: %+v, desired %s", n.ID, n, desired)
		}
		interval := record.DefaultSnapshotInterval
		if n.Pool == "controller" {
			interval = 10 * time.Minute // its entry is left, and says more than an annotation that is gone
		}
		if n.Record.Version != "4.1.1" || n.Record.Format != record.FormatDone || n.Record.SnapshotInterval != interval {
			t.Errorf("record of node %d: %+v", n.ID, n.Record)
		}
	}
	for _, pod := range r.pods() {
		if metav1.GetControllerOf(&pod) == nil {
			t.Errorf("%s belongs to nobody", pod.Name)
		}
	}
}

// A pod with an unknown version is unchanged: the user has to set the version with which it was started.
func TestRepairLeavesPodsWithoutAVersion(t *testing.T) {
	r := separate(t)
	r.settle()
	r.remove(&corev1.ConfigMap{}, podBroker+"-record")
	r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
	pod := &corev1.Pod{}
	r.must(r.get(pod, podBroker))
	pod.Annotations = nil
	r.must(r.client.Update(t.Context(), pod))
	r.settle()
	if n := r.snapshot(false).Node(0); n.Recorded || n.Entry.Exists || n.Pod.Revision != "" {
		t.Errorf("node %+v", n)
	}
}

// A set that the resource before has left behind is taken over with its pods.
func TestRepairAdoptsSetsOfAnEarlierResource(t *testing.T) {
	r := separate(t)
	r.settle()
	k, s := r.cluster(), &corev1beta2.StrimziPodSet{}
	r.must(r.get(s, setBroker))
	owners := s.OwnerReferences
	r.remove(k, k.Name)
	r.must(r.get(s, setBroker))
	s.OwnerReferences = owners
	r.must(r.client.Update(t.Context(), s))
	again := k.DeepCopy()
	again.ResourceVersion = ""
	again.Status = kafkav1beta2.KafkaStatus{Status: lifecyclev1.Status{}}
	r.must(r.client.Create(t.Context(), again))
	r.children = lifecycle.NewChildren(r.client, r.client, r.clock)
	r.settle()
	r.must(r.get(s, setBroker))
	if owner := metav1.GetControllerOf(s); owner == nil || owner.UID != again.UID || len(s.OwnerReferences) != 1 {
		t.Errorf("owners %+v", s.OwnerReferences)
	}
}

// applyAgain creates the cluster and its pools again, as another resource of the same name.
func (r *rig) applyAgain() {
	r.t.Helper()
	for _, o := range manifests(r.t, upstream+"v1beta2/kafka-persistent.yaml") {
		o.SetUID(types.UID("second-" + string(o.GetUID())))
		r.must(r.client.Create(r.t.Context(), o))
	}
	r.children = lifecycle.NewChildren(r.client, r.client, r.clock)
}

// A claim that is missing in the cache because a user has removed its labels still exists.
func TestRecordAdoptionOfClaimsWithoutLabels(t *testing.T) {
	r := separate(t)
	r.registered()
	r.settle()
	r.deleteAllBut(true)
	var claims corev1.PersistentVolumeClaimList
	r.must(r.client.List(t.Context(), &claims))
	for i := range claims.Items {
		claims.Items[i].Labels = nil
		r.must(r.client.Update(t.Context(), &claims.Items[i]))
	}
	*r.kafka = kafkaSide{}
	r.applyAgain()
	for range 3 {
		r.must(r.repair())
		r.clock.Step(time.Second)
	}
	if got := r.record(podBroker); got.Format != record.FormatDone || got.Version != "4.1.1" {
		t.Errorf("the record has begun anew: %+v", got)
	}
	for range 5 { // ids and records are committed first
		if err := r.pass(); err != nil && strings.Contains(err.Error(), "lacks the label") {
			return
		}
		r.clock.Step(time.Second)
	}
	t.Error("nobody says that a claim lacks its labels")
}

// While the pods of the resource before are on their way out, the next one waits: their claims may go with them.
func TestRecordAdoptionWhilePodsTerminate(t *testing.T) {
	r := separate(t)
	r.registered()
	r.settle()
	for _, pod := range r.pods() {
		pod.Finalizers = []string{"test/kubelet"}
		r.must(r.client.Update(t.Context(), &pod))
	}
	r.deleteAllBut(true)
	r.must(r.client.DeleteAllOf(t.Context(), &corev1.PersistentVolumeClaim{}, client.InNamespace("default")))
	*r.kafka = kafkaSide{}
	first := r.record(podBroker).Resource
	r.applyAgain()
	r.settleWaiting()
	if err := r.pass(); err == nil || !strings.Contains(err.Error(), "Pod my-cluster-broker-0 is being deleted, and is kept by its finalizers test/kubelet: not possible yet") {
		t.Errorf("the wait is for %v", err)
	}
	if got := r.record(podBroker); got.Resource != first || got.Format != record.FormatDone {
		t.Errorf("record %+v, want it to stay the earlier one's", got)
	}
	if v := r.snapshot(false); len(v.Objects.Claims)+len(v.Objects.PodSets) > 0 {
		t.Errorf("%d claims and %d sets are made meanwhile", len(v.Objects.Claims), len(v.Objects.PodSets))
	}
	for _, pod := range r.pods() {
		pod.Finalizers = nil
		r.must(r.client.Update(t.Context(), &pod))
	}
	r.settle()
	if got := r.record(podBroker); got.Resource == first || got.Format != record.FormatAllowed {
		t.Errorf("record %+v, want it to begin anew", got)
	}
	r.must(r.get(&corev1.PersistentVolumeClaim{}, "data-0-my-cluster-broker-0"))
}
