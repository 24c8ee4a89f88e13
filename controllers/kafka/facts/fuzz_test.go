package facts

import (
	"strings"
	"testing"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// An annotation that approves or delays has its exact meaning, or is a reported problem. It never means no delay.
func FuzzAnnotations(f *testing.F) {
	for _, soak := range []string{"90m", "7d", "-1h", "", " 1d ", "106752d", "9999999999d", "1e9h", "2540400h10m10.000000000s", "\x00"} {
		f.Add(soak, "raise-metadata=abc123/4.1-IV1")
	}
	f.Add("1h", "raise-metadata=")
	f.Fuzz(func(t *testing.T, soak, approve string) {
		k := &kafkav1beta2.Kafka{}
		k.Annotations = map[string]string{AnnotationSoak: soak, labels.Approve: approve}
		got := finalize(k, &observation.Snapshot{Options: observation.Options{Finalizing: observation.FinalizeByApproval}})
		if got.Soak < 0 || got.Soak > 0 && got.SoakProblem != nil {
			t.Fatalf("%q is a delay of %s with the problem %v", soak, got.Soak, got.SoakProblem)
		}
		if zero := strings.ContainsAny(soak, "0"); got.Soak == 0 && got.SoakProblem == nil && !zero {
			t.Fatalf("%q is no delay", soak)
		}
		if got.Approved != "" && approve != "raise-metadata="+got.Approved {
			t.Fatalf("%q approves %q", approve, got.Approved)
		}
	})
}
