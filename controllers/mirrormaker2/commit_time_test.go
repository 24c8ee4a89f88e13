package mirrormaker2_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// TestKindForgetsCommitTimesThatNoWorkerHad undoes an edit that was refused: no worker ran with its times, and a reset does not wait for them.
func TestKindForgetsCommitTimesThatNoWorkerHad(t *testing.T) {
	r := stopped(t)
	spec := r.get().Spec.DeepCopy()
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		for i := range m.Spec.Clusters {
			if m.Spec.Clusters[i].Alias == m.Spec.ConnectCluster {
				m.Spec.Clusters[i].Config = map[string]apiextensionsv1.JSON{
					"offset.flush.interval.ms": {Raw: []byte(`"${env:FLUSH}"`)}, "producer.acks": {Raw: []byte(`["all"]`)},
				}
			}
		}
	})
	r.steps(3)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec = *spec })
	r.until("that all is settled again", r.settled)
	started := r.containers
	r.annotate("reset", source)
	r.until("that it is done", r.unannotated)
	if r.containers != started {
		t.Errorf("%d containers were started, want none", r.containers-started)
	}
}
