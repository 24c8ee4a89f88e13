package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// The exporter needs nothing of Kubernetes. The operators of topics and users do, with the rights that the namespace's ServiceAccount has.
func TestComponentsTokens(t *testing.T) {
	in := example(t, persistent)
	in.Spec.EntityOperator = &kafkav1beta2.EntityOperatorSpec{TopicOperator: &kafkav1beta2.EntityOperatorComponent{Image: "example.com/topics:1"}}
	in.Spec.KafkaExporter = &kafkav1beta2.KafkaExporterSpec{}
	got := map[string]bool{} // whether a token is mounted
	for _, d := range New(in).Components() {
		mounts := d.Spec.Template.Spec.AutomountServiceAccountToken
		got[d.Name] = mounts == nil || *mounts
	}
	want := map[string]bool{EntityOperatorName(in.Name): true, ExporterName(in.Name): false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}
