package plan

import (
	"testing"
)

// remembered is a cluster of which nothing but its status is left: its pods, disks and records are gone.
func remembered(t *testing.T, version, metadata string) *lived {
	t.Helper()
	l := newCluster(t, known)
	k := l.kafka()
	k.Status.KafkaVersion, k.Status.KafkaMetadataVersion = version, metadata
	return l
}

func TestAClusterOfWhichOnlyTheStatusIsLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		version, metadata string // as the status has them
		wanted            string
		want              string
		result            Result
	}{
		"the same version":      {"4.2.0", "4.2-IV1", "4.2.0", "4.2.0 at 4.2-IV1, pods 4.2.0", Rests},
		"a newer version":       {"4.2.0", "4.2-IV1", "4.3.1", "4.3.1 at 4.3-IV0, pods 4.3.1", Rests},
		"an older version":      {"4.3.1", "4.2-IV1", "4.2.0", "4.2.0 at 4.2-IV1, pods 4.2.0", Rests},
		"one below the level":   {"4.3.1", "4.3-IV0", "4.2.0", "4.3.1 at 4.3-IV0, pods ", Holds},
		"an unknown one to 4.3": {"4.1.0", "4.1-IV1", "4.3.1", "4.3.1 at 4.3-IV0, pods 4.3.1", Rests},
	} {
		t.Run(name, func(t *testing.T) {
			l := remembered(t, tc.version, tc.metadata)
			l.want(tc.wanted, "")
			p := l.live()
			if got := l.state(); got != tc.want || p.Result != tc.result {
				t.Errorf("%s with %s, want %s with %s:\n%s", p.Result, got, tc.result, tc.want, p.Text(TextOptions{}))
			}
		})
	}
}
