package mirrormaker2_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKindAcceptsExamples checks that the example files of Strimzi settle unchanged with the connectors that they declare. A file with TLS
// is refused with a reason.
func TestKindAcceptsExamples(t *testing.T) {
	const all, withoutHeartbeat = "MirrorCheckpointConnector MirrorHeartbeatConnector MirrorSourceConnector", "MirrorCheckpointConnector MirrorSourceConnector"
	for name, want := range map[string]string{
		"v1/kafka-mirror-maker-2.yaml":                                withoutHeartbeat,
		"v1/kafka-mirror-maker-2-custom-replication-policy.yaml":      withoutHeartbeat,
		"v1/kafka-mirror-maker-2-sync-groups.yaml":                    withoutHeartbeat,
		"v1/kafka-mirror-maker-2-tls.yaml":                            "UnsupportedSecurity",
		"v1beta2/kafka-mirror-maker-2.yaml":                           withoutHeartbeat,
		"v1beta2/kafka-mirror-maker-2-custom-replication-policy.yaml": withoutHeartbeat,
		"v1beta2/kafka-mirror-maker-2-sync-groups.yaml":               withoutHeartbeat,
		"v1beta2/kafka-mirror-maker-2-tls.yaml":                       "UnsupportedSecurity",
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../../test/testdata/upstream/strimzi/mirror-maker", name))
			if err != nil {
				t.Fatal(err)
			}
			r := newRigOf(t, string(text))
			if want == "UnsupportedSecurity" {
				r.until("the warning", func() bool { return strings.Contains(r.warning(want), "tls, which is not supported yet") })
				return
			}
			r.until("that all is settled", r.settled)
			var got []string
			for _, raw := range r.get().Status.Connectors {
				for class := range strings.FieldsSeq(all) {
					if strings.Contains(string(raw.Raw), "cluster-a->cluster-b."+class) || strings.Contains(string(raw.Raw), `cluster-a-\u003ecluster-b.`+class) {
						got = append(got, class)
					}
				}
			}
			if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
