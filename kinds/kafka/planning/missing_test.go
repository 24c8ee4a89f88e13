package planning

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/internal/plan"
)

// remembered is a cluster of which nothing but its status is left: its pods, disks and records are gone.
func remembered(t *testing.T, version, metadata string) *lived {
	t.Helper()
	l := newCluster(t, known)
	k := l.kafka()
	k.Status.KafkaVersion, k.Status.KafkaMetadataVersion = version, metadata
	return l
}

func TestMakeOfAClusterWithNothingButAStatus(t *testing.T) {
	for name, tc := range map[string]struct {
		version, metadata string // as the status has them
		wanted            string
		want              string
		result            plan.Result
	}{
		"the same version":      {"4.2.0", "4.2-IV1", "4.2.0", "4.2.0 at 4.2-IV1, pods 4.2.0", plan.Rests},
		"a newer version":       {"4.2.0", "4.2-IV1", "4.3.1", "4.3.1 at 4.3-IV0, pods 4.3.1", plan.Rests},
		"an older version":      {"4.3.1", "4.2-IV1", "4.2.0", "4.2.0 at 4.2-IV1, pods 4.2.0", plan.Rests},
		"one below the level":   {"4.3.1", "4.3-IV0", "4.2.0", "4.3.1 at 4.3-IV0, pods ", plan.Holds},
		"an unknown one to 4.3": {"4.1.0", "4.1-IV1", "4.3.1", "4.3.1 at 4.3-IV0, pods 4.3.1", plan.Rests},
	} {
		t.Run(name, func(t *testing.T) {
			l := remembered(t, tc.version, tc.metadata)
			l.want(tc.wanted, "")
			p := l.live()
			if got := l.state(); got != tc.want || p.Result != tc.result {
				t.Errorf("%s with %s, want %s with %s:\n%s", p.Result, got, tc.result, tc.want, p.Text(plan.TextOptions{}))
			}
		})
	}
}

// If the metadata version in the status is the name of no known level, the level is unknown: the plan neither takes it for another
// level nor permits a downgrade.
func TestMakeOfAnUnknownMetadataVersion(t *testing.T) {
	for name, tc := range map[string]struct {
		recorded string
		end      string
		result   plan.Result
		want     string
	}{
		"a sub-version that its release does not have": {
			"4.3-IV9", "Checking", plan.Stalls,
			`Kafka does not report metadata.version: the status says "4.3-IV9", and no level of that name is known. Set metadataVersion in the World document`,
		},
		"a sub-version that an older release does not have": {
			"4.2-IV9", "Checking", plan.Stalls,
			`Kafka does not report metadata.version: the status says "4.2-IV9", and no level of that name is known. Set metadataVersion in the World document`,
		},
		"text that is no metadata version": {
			"unreadable", "Checking", plan.Stalls,
			`Kafka does not report metadata.version: the status says "unreadable", and no level of that name is known. Set metadataVersion in the World document`,
		},
		"a newer release": {
			"9.9-IV0", "Refused", plan.Holds,
			`Kafka has finalized a metadata.version above every known level: the status says "9.9-IV0", which is of a newer release`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := settled(t, "4.3.1")
			l.kafka().Status.KafkaMetadataVersion = tc.recorded
			l.section().Clusters = nil
			l.want("4.2.0", "")
			for _, o := range l.in.Objects { // one node was restarted on the older version already
				if pod, ok := o.(*corev1.Pod); ok && pod.Name == "my-cluster-nodes-0" {
					pod.Annotations[labels.KafkaVersion] = "4.2.0"
				}
			}
			p := l.live()
			if lc := lifecycleOf(t, p, "version"); lc.End != tc.end || lc.Result != tc.result {
				t.Errorf("%s in %s, want %s in %s:\n%s", lc.Result, lc.End, tc.result, tc.end, p.Text(plan.TextOptions{}))
			}
			if got := p.Objects[0].Assumptions; !slices.Contains(got, tc.want) {
				t.Errorf("assumptions %q, want among them %q", got, tc.want)
			}
		})
	}
}
