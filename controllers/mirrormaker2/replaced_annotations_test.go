package mirrormaker2_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// TestKindChangesOnceWhereAToolReplacesAnnotations checks that a change of several connectors is not sent again to the one that is done, if a
// tool drops the annotation that shows it while another connector fails for longer than a repetition is recognized.
func TestKindChangesOnceWhereAToolReplacesAnnotations(t *testing.T) {
	r := newRig(t)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Spec.Mirrors[0].SourceConnector.State = kafkav1beta2.ConnectorStopped
		m.Spec.Mirrors[0].CheckpointConnector.State = kafkav1beta2.ConnectorStopped
	})
	r.until("that all is settled", r.settled)
	broken := true
	r.answer = func(q *http.Request) *http.Response {
		if broken && q.Method == http.MethodDelete && strings.Contains(q.URL.Path, checkpoint) {
			return response(http.StatusBadRequest, `{"error_code":400,"message":"not now"}`)
		}
		return nil
	}
	r.annotate("reset", source+","+checkpoint)
	r.until("that one fails", func() bool { return strings.Contains(r.warning("ResetOffsets"), "not now") })
	for range 400 {
		r.step()
	}
	r.annotate("reset", source+","+checkpoint) // without the annotation of the operator
	for range 60 {
		r.step()
	}
	broken = false
	for range 300 {
		r.step()
	}
	sent := slices.DeleteFunc(r.changes(), func(w string) bool { return !strings.Contains(w, source) })
	if len(sent) != 1 {
		t.Errorf("%v were sent to the connector that was done, want one change", sent)
	}
}
