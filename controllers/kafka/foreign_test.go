package kafka

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// strimziTook turns the pods of a rig into Strimzi's. Only their specs differ: labels and annotations are the same.
func (r *rig) strimziTook() {
	r.t.Helper()
	for _, pod := range r.pods() {
		pod.Spec.Containers[0].Command = []string{"/opt/kafka/kafka_run.sh"}
		r.must(r.client.Update(r.t.Context(), &pod))
	}
}

// A cluster of Strimzi is unchanged, including the ports of its Services, and its status has the reason.
func TestForeignClustersAreUnchanged(t *testing.T) {
	r := separate(t)
	r.registered()
	r.settle()
	r.strimziTook()
	service := &corev1.Service{}
	r.must(r.get(service, "my-cluster-kafka-brokers"))
	service.Spec.Ports = []corev1.ServicePort{{Name: "tcp-clientstls", Port: 9093}}
	r.must(r.client.Update(t.Context(), service))
	k := r.cluster()
	k.Spec.Kafka.Config = map[string]apiextensionsv1.JSON{"log.retention.hours": {Raw: []byte("24")}}
	r.must(r.client.Update(t.Context(), k))

	r.written()
	r.settle()
	if w := r.written(); len(w) > 0 {
		t.Errorf("written: %s", strings.Join(w, ", "))
	}
	got := message(specErrorOf(r.cluster(), r.snapshot(false)))
	if !strings.HasPrefix(got, podBroker+" was made by Strimzi (and so were 5 more nodes), ") {
		t.Errorf("spec error %q", got)
	}
	if err := r.restart(0, "4.1.1"); err == nil || r.versionOf(podBroker) == "gone" {
		t.Errorf("a restart is not refused: %v", err)
	}

	// What is lost comes back from its entry.
	r.remove(&corev1.Pod{}, podBroker)
	r.settle()
	r.must(r.get(&corev1.Pod{}, podBroker))
}
