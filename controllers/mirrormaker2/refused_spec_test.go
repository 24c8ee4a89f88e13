package mirrormaker2_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// authenticated returns a rig that has settled and whose workers and connectors log in to the source cluster.
func authenticated(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Spec.Clusters[0].Authentication = opaque(`{"type":"scram-sha-512","username":"mirror","passwordSecret":{"secretName":"east-user","password":"password"}}`)
	})
	r.until("that all is settled", r.settled)
	r.writes = nil
	return r
}

func opaque(text string) *kafkav1beta2.Opaque {
	o := &kafkav1beta2.Opaque{}
	o.Raw = []byte(text)
	return o
}

// refusals are edits after which the spec cannot be applied: it has no login that could be rendered, or a value that Kafka cannot read.
func refusals() map[string]func(m *kafkav1beta2.KafkaMirrorMaker2) {
	return map[string]func(m *kafkav1beta2.KafkaMirrorMaker2){
		"tls": func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Clusters[0].TLS = opaque(`{}`) },
		"unknown authentication": func(m *kafkav1beta2.KafkaMirrorMaker2) {
			m.Spec.Clusters[0].Authentication = opaque(`{"type":"scram"}`)
		},
		"topics that are a list": func(m *kafkav1beta2.KafkaMirrorMaker2) {
			m.Spec.Mirrors[0].SourceConnector.Config = map[string]apiextensionsv1.JSON{"topics": {Raw: []byte(`["orders","bills"]`)}}
		},
	}
}

// TestKindShowsARefusedSpec checks that a resource whose spec is refused is stalled and not ready, with the reason, and that it is ready
// again when the edit is reverted.
func TestKindShowsARefusedSpec(t *testing.T) {
	for name, refuse := range refusals() {
		t.Run(name, func(t *testing.T) {
			r := authenticated(t)
			before, containers := r.get().Spec, r.containers
			r.edit(refuse)
			r.until("that it is refused", func() bool {
				m := r.get()
				stalled := meta.FindStatusCondition(m.Status.Conditions, lifecycle.Stalled)
				return stalled.Status == metav1.ConditionTrue && stalled.Reason == "Refused" && m.Status.ObservedGeneration == m.Generation
			})
			if got := r.unready(); !strings.Contains(got, "cluster east-kafka has ") && !strings.Contains(got, "spec.mirrors[east-kafka].sourceConnector.config[topics] (want a string, a number or a boolean, saw a list)") {
				t.Errorf("the resource is not ready due to %q", got)
			}
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec = before })
			r.until("that all is settled", r.settled)
			if r.containers != containers || len(r.writes) > 0 {
				t.Errorf("%d workers were started, and %v was sent", r.containers-containers, r.writes)
			}
		})
	}
}

// TestKindKeepsConnectorsOfARefusedSpec checks that a spec that is refused configures no connector, whose configuration would lack the
// login, and that connectors still stop and run again with the configuration that they have.
func TestKindKeepsConnectorsOfARefusedSpec(t *testing.T) {
	for name, refuse := range refusals() {
		t.Run(name, func(t *testing.T) {
			r := authenticated(t)
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
				refuse(m)
				m.Spec.Mirrors[0].SourceConnector.TasksMax = new(int32(1))
			})
			r.until("the warning", func() bool { return r.warning("UnsupportedSecurity")+r.warning("UnreadableConfig") != "" })
			for range 60 {
				r.step()
			}
			if len(r.writes) > 0 {
				t.Errorf("sent %v", r.writes)
			}
			r.edit(state(kafkav1beta2.ConnectorStopped))
			r.until("that it is stopped", func() bool { return len(r.writes) == 1 })
			for range 20 {
				r.step()
			}
			r.edit(state(kafkav1beta2.ConnectorRunning))
			for range 20 {
				r.step()
			}
			want := []string{"PUT /connectors/" + source + "/stop", "PUT /connectors/" + source + "/resume"}
			if diff := cmp.Diff(want, r.writes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestKindShowsWhatHasNoEffect checks the warnings about properties of clusters and fields that have no effect.
func TestKindShowsWhatHasNoEffect(t *testing.T) {
	r := newRig(t)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Spec.Clusters[0].Config = map[string]apiextensionsv1.JSON{"security.protocol": {Raw: []byte(`"SASL_SSL"`)}, "sasl.mechanism": {Raw: []byte(`null`)}}
		m.Spec.MetricsConfig = opaque(`{"type":"jmxPrometheusExporter"}`)
	})
	r.until("that all is settled", r.settled)
	if got, want := r.warning("IgnoredProperty"), "sasl.mechanism of cluster east-kafka, security.protocol of cluster east-kafka"; !strings.Contains(got, want) {
		t.Errorf("warning %q, want %q", got, want)
	}
	if got, want := r.warning("UnusedField"), "nothing is done with spec.metricsConfig"; got != want {
		t.Errorf("warning %q, want %q", got, want)
	}
}
