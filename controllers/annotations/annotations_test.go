package annotations_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/annotations"
	"github.com/detent-dev/detent/controllers/labels"
)

func TestUnknown(t *testing.T) {
	for name, tc := range map[string]struct{ annotation, kind, want string }{
		"of another operator":        {"example.com/drain", labels.KindCeph, ""},
		"of the kind":                {"detent.dev/drain", labels.KindKafka, ""},
		"written by the operator":    {labels.OffsetsRequest, labels.KindMirrorMaker2, ""},
		"a letter too many":          {"detent.dev/drains", labels.KindKafka, "is unknown and has no effect. Remove it, or write detent.dev/drain"},
		"nearly a pause":             {"detent.dev/paused", labels.KindMirrorMaker2, "is unknown and has no effect. Remove it, or write detent.dev/pause"},
		"of another kind":            {"detent.dev/soak", labels.KindMirrorMaker2, "has no effect on this kind, but on Kafka. Remove it"},
		"of several other kinds":     {"detent.dev/approve", labels.KindMirrorMaker2, "has no effect on this kind, but on Cluster, Kafka. Remove it"},
		"of no kind":                 {"detent.dev/owner", labels.KindMirrorMaker2, "is unknown and has no effect. Remove it"},
		"of no kind, short":          {"detent.dev/foo", labels.KindKafka, "is unknown and has no effect. Remove it"},
		"nearly one of the operator": {"detent.dev/offset-request", labels.KindMirrorMaker2, "is unknown and has no effect. Remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			if tc.want != "" {
				want = []string{"the annotation " + tc.annotation + " of " + tc.kind + " a " + tc.want}
			}
			o := &metav1.ObjectMeta{Name: "a", Annotations: map[string]string{tc.annotation: "true"}}
			if diff := cmp.Diff(want, annotations.Unknown(tc.kind, o)); diff != "" {
				t.Errorf("texts (-want +got):\n%s", diff)
			}
		})
	}
}
