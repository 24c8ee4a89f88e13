package mirrormaker2_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// mirrored declares n mirrors, whose connectors are stopped.
func mirrored(n int) func(m *kafkav1beta2.KafkaMirrorMaker2) {
	return func(m *kafkav1beta2.KafkaMirrorMaker2) {
		first := m.Spec.Mirrors[0]
		m.Spec.Mirrors = nil
		for i := range n {
			one, alias := *first.DeepCopy(), fmt.Sprintf("east-%d", i)
			one.SourceCluster = alias
			for _, c := range []*kafkav1beta2.MirrorMaker2Connector{one.SourceConnector, one.CheckpointConnector, one.HeartbeatConnector} {
				c.State = kafkav1beta2.ConnectorStopped
			}
			m.Spec.Clusters = append(m.Spec.Clusters, kafkav1beta2.MirrorMaker2Cluster{Alias: alias, BootstrapServers: alias + ":9092"})
			m.Spec.Mirrors = append(m.Spec.Mirrors, one)
		}
	}
}

// TestKindResetsManyConnectors checks that workers count as accounted for, although each answer with offsets takes two seconds and a round of
// questions about the offsets of all connectors takes longer than an answer of a worker is valid.
func TestKindResetsManyConnectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const mirrors = 6
		p := newPolled(t, hindrance{})
		p.edit(mirrored(mirrors))
		p.settles("created", 600)
		p.instead = func(r *http.Request) (*http.Response, error, bool) {
			if strings.HasSuffix(r.URL.Path, "/offsets") {
				<-time.After(2 * time.Second)
			}
			return nil, nil, false
		}
		p.annotate("reset", "*")
		p.settles("reset", 300)
		if got := p.changes(); len(got) != 3*mirrors {
			t.Errorf("%d changes were sent, want %d", len(got), 3*mirrors)
		}
	})
}
