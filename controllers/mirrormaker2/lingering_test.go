package mirrormaker2_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/detent-dev/detent/machines/connectoroffsets"
)

// TestRefusalLingers checks that a change that Connect refuses again and again is tried at intervals that grow, that the Warning stays, and
// that it goes when the request is another one.
func TestRefusalLingers(t *testing.T) {
	r := stopped(t, body(altered))
	r.answer = func(q *http.Request) *http.Response {
		if q.Method == http.MethodPatch {
			return response(http.StatusBadRequest, `{"error_code":400,"message":"not these"}`)
		}
		return nil
	}
	r.annotate("alter", source)
	refused := func() bool { return strings.Contains(r.warning("AlterOffsets"), "not these") }
	r.until("the warning", refused)
	gone := 0
	for range 3600 {
		r.step()
		if !refused() {
			gone++
		}
	}
	if got := len(r.changes()); got < 6 || got > 10 || gone > 0 {
		t.Errorf("sent %d changes in an hour, and the warning was gone for %d s: want 6 to 10, and a warning that stays", got, gone)
	}
	r.answer = nil
	r.annotate("reset", source)
	r.until("the other request", func() bool { return r.offsetsIn(source) == connectoroffsets.AwaitingStopped })
	if got := r.warning("AlterOffsets") + r.warning("ResetOffsets"); got != "" {
		t.Errorf("the warning is %q while another request is under way", got)
	}
}
