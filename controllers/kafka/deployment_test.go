package kafka

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// A webhook that replaces images by a mirror is not overwritten repeatedly. A changed spec is applied, and a manual change is
// reverted.
func TestDeploymentThatAWebhookRewrites(t *testing.T) {
	const name = "my-cluster-kafka-exporter"
	r := single(t)
	r.webhook = func(o client.Object) {
		if d, ok := o.(*appsv1.Deployment); ok {
			c := &d.Spec.Template.Spec.Containers[0]
			c.Image = "mirror.example.com/" + c.Image[strings.LastIndexByte(c.Image, '/')+1:]
		}
	}
	k := r.cluster()
	k.Spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{Image: "example.com/exporter:1"}
	r.must(r.client.Update(t.Context(), k))
	deployment := func() *appsv1.Deployment {
		d := &appsv1.Deployment{}
		r.must(r.get(d, name))
		return d
	}
	settles := func(what, image string) {
		t.Helper()
		r.settle() // which fails if something is written in every pass
		r.written()
		r.settle()
		got := deployment().Spec.Template.Spec.Containers[0].Image
		if diff := cmp.Diff([]string(nil), r.written()); diff != "" || got != image {
			t.Errorf("%s: image %s, want %s; writes at rest (-want +got):\n%s", what, got, image, diff)
		}
	}
	settles("made", "mirror.example.com/exporter:1")
	k = r.cluster()
	k.Spec.KafkaExporter.Image = "example.com/exporter:2"
	r.must(r.client.Update(t.Context(), k))
	settles("declared anew", "mirror.example.com/exporter:2")
	d := deployment()
	d.Spec.Template.Spec.Containers[0].Image = "example.com/another:1"
	r.must(r.client.Update(t.Context(), d))
	settles("changed by hand", "mirror.example.com/exporter:2")
	d = deployment()
	d.Spec.Replicas = new(int32(0))
	r.must(r.client.Update(t.Context(), d))
	settles("scaled by hand", "mirror.example.com/exporter:2")
	if n := *deployment().Spec.Replicas; n != 1 {
		t.Errorf("%d pods, want 1", n)
	}
}
