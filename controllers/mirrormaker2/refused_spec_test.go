package mirrormaker2_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
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

// refusals are edits after which the spec cannot be applied, because it has no login that could be rendered.
func refusals() map[string]func(m *kafkav1beta2.KafkaMirrorMaker2) {
	return map[string]func(m *kafkav1beta2.KafkaMirrorMaker2){
		"tls":                    func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Clusters[0].TLS = opaque(`{}`) },
		"unknown authentication": func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Clusters[0].Authentication = opaque(`{"type":"scram"}`) },
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
			r.until("the warning", func() bool { return r.warning("UnsupportedSecurity") != "" })
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
