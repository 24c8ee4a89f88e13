package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// A webhook that lets images be pulled from a mirror is not quarrelled with; what is declared anew is brought about.
func TestDeploymentsThatAWebhookRewrites(t *testing.T) {
	const name = "my-cluster-kafka-exporter"
	r := single(t)
	k := r.cluster()
	k.Spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{Image: "example.com/exporter:1"}
	r.must(r.client.Update(t.Context(), k))
	r.settle()
	image := func() string {
		d := &appsv1.Deployment{}
		r.must(r.get(d, name))
		return d.Spec.Template.Spec.Containers[0].Image
	}
	d := &appsv1.Deployment{}
	r.must(r.get(d, name))
	d.Spec.Template.Spec.Containers[0].Image = "mirror.example.com/exporter:1"
	r.must(r.client.Update(t.Context(), d))
	r.written()
	r.settle()
	if diff := cmp.Diff([]string(nil), r.written()); diff != "" || image() != "mirror.example.com/exporter:1" {
		t.Errorf("image %s, writes (-want +got):\n%s", image(), diff)
	}
	k = r.cluster()
	k.Spec.KafkaExporter.Image = "example.com/exporter:2"
	r.must(r.client.Update(t.Context(), k))
	r.written()
	r.settle()
	if diff := cmp.Diff([]string{"update Deployment " + name}, r.written()); diff != "" || image() != "example.com/exporter:2" {
		t.Errorf("image %s, writes (-want +got):\n%s", image(), diff)
	}
	r.must(r.get(d, name))
	d.Spec.Replicas = new(int32(0))
	r.must(r.client.Update(t.Context(), d))
	r.settle()
	r.must(r.get(d, name))
	if *d.Spec.Replicas != 1 {
		t.Errorf("%d pods, want 1", *d.Spec.Replicas)
	}
}
