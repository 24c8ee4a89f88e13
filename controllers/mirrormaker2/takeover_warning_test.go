package mirrormaker2_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// TestKindKeepsWarningsOfAnotherProcess checks that an operator that takes over shows the failure of one connector as its predecessor did,
// beside what is wrong with another one.
func TestKindKeepsWarningsOfAnotherProcess(t *testing.T) {
	r := newRig(t, body(altered))
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Spec.Mirrors[0].SourceConnector.State = kafkav1beta2.ConnectorStopped
		m.Spec.Mirrors[0].CheckpointConnector.State = kafkav1beta2.ConnectorStopped
	})
	r.until("that all is settled", r.settled)
	r.answer = func(q *http.Request) *http.Response {
		if q.Method == http.MethodPatch {
			return response(http.StatusBadRequest, `{"error_code":400,"message":"no such partition"}`)
		}
		return nil
	}
	r.annotate("alter", source+","+checkpoint) // there is no document for the checkpoint connector
	r.until("that it failed", func() bool { return strings.Contains(r.warning("AlterOffsets"), "no such partition") })
	for range 5 {
		r.step()
	}
	want := r.warning("AlterOffsets")
	r.start()
	for range 40 {
		r.step()
		if got := r.warning("AlterOffsets"); got != want {
			t.Fatalf("the warning became\n%s\nwant\n%s", got, want)
		}
	}
}

// TestKindWarnsOfUnknownAnnotations names a misspelt annotation until it is corrected.
func TestKindWarnsOfUnknownAnnotations(t *testing.T) {
	r := newRig(t, body(altered))
	r.until("that all is settled", r.settled)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Annotations = map[string]string{"detent.dev/paused": "true"}
	})
	want := "the annotation detent.dev/paused of KafkaMirrorMaker2 " + r.get().Name + " is unknown and has no effect. Remove it, or write detent.dev/pause"
	r.until("the warning", func() bool { return r.warning(labels.UnknownAnnotation) == want })
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations = nil })
	r.until("that it is gone", func() bool { return r.warning(labels.UnknownAnnotation) == "" })
}
