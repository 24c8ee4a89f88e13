package kafka

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// A node on a version that the table does not list keeps the image that it ran, and a new one beside it gets the same: the public image may
// not have that version, or be another build of it.
func TestAVersionThatIsNotListedKeepsItsImage(t *testing.T) {
	const version, image = "4.9.9", "acme/kafka:4.9.9"
	r := separate(t)
	r.version = version
	k := r.cluster()
	k.Spec.Kafka.Version, k.Spec.Kafka.Image = version, image
	r.must(r.client.Update(t.Context(), k))
	r.settle()
	k = r.cluster()
	k.Spec.Kafka.Version, k.Spec.Kafka.Image = "4.1.1", ""
	r.must(r.client.Update(t.Context(), k))
	images := func() string {
		seen := map[string]int{}
		for _, pod := range r.pods() {
			seen[pod.Spec.Containers[0].Image+" "+pod.Spec.InitContainers[0].Image]++
		}
		return fmt.Sprint(seen)
	}
	if v := r.snapshot(false); v.Outdated(v.Node(0)) {
		t.Error("with its pod the node is outdated")
	}
	r.remove(&corev1.Pod{}, podBroker)
	if v := r.snapshot(false); v.Outdated(v.Node(0)) {
		t.Error("without its pod the node is outdated")
	}
	r.settle()
	pool := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(pool, "broker"))
	pool.Spec.Replicas = 4
	r.must(r.client.Update(t.Context(), pool))
	r.settle()
	if got, want := images(), fmt.Sprint(map[string]int{image + " " + image: 7}); got != want {
		t.Errorf("images %s, want %s", got, want)
	}
}
