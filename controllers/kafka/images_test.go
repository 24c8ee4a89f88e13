package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// declares changes the version and the image that the cluster declares, as the documentation asks.
func (w *world) declares(version, image string) {
	w.t.Helper()
	k := w.cluster()
	k.Spec.Kafka.Version, k.Spec.Kafka.Image = version, image
	k.Generation++
	w.must(w.client.Update(w.t.Context(), k))
}

// The image in the spec is of the declared version: no node runs it on another one, whatever the version change decides.
func TestImageIsOfTheDeclaredVersion(t *testing.T) {
	const image = "registry.example/kafka:"
	for name, tc := range map[string]struct {
		to string
		// grows adds a broker in the middle of the change.
		grows bool
		want  map[string]int
	}{
		"a downgrade that is refused":        {to: "3.9.2", want: map[string]int{"4.3.0 " + image + "4.3.0": 6}},
		"a version that is not known":        {to: "4.9.9", want: map[string]int{"4.3.0 " + image + "4.3.0": 6}},
		"a refused change beside a new node": {to: "3.9.2", grows: true, want: map[string]int{"4.3.0 " + image + "4.3.0": 7}},
		"an upgrade":                         {to: "4.3.1", want: map[string]int{"4.3.1 " + image + "4.3.1": 6}},
		"an upgrade beside a new node":       {to: "4.3.1", grows: true, want: map[string]int{"4.3.1 " + image + "4.3.1": 7}},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, func(k *kafkav1beta2.Kafka) { k.Spec.Kafka.Version, k.Spec.Kafka.Image = "4.3.0", image+"4.3.0" },
				declaredPool("brokers", 3, roleBroker), declaredPool("controllers", 3, roleController))
			w.declares(tc.to, image+tc.to)
			if tc.grows {
				w.edit("brokers", func(p *kafkav1beta2.KafkaNodePool) { p.Spec.Replicas++ })
			}
			for range 80 {
				w.step()
				for _, pod := range w.pods() {
					if runs, version := pod.Spec.Containers[0].Image, pod.Annotations[labels.KafkaVersion]; runs != image+version {
						t.Fatalf("%s is on %s with image %s", pod.Name, version, runs)
					}
				}
			}
			got := map[string]int{}
			for _, pod := range w.pods() {
				got[pod.Annotations[labels.KafkaVersion]+" "+pod.Spec.Containers[0].Image]++
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("versions and images of the pods (-want +got):\n%s", diff)
			}
		})
	}
}
