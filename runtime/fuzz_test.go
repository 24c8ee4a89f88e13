package runtime_test

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/test/turnstile"
	"github.com/detent-dev/detent/test/turnstile/api"
)

// The state in a status may have been written by anyone and is never trusted alone: a turnstile in its desired state stays so,
// loses no arm, is not sealed again, and comes to rest again or shows why not.
func FuzzStatus(f *testing.F) {
	for _, v := range turnstile.Visits() {
		f.Add([]byte(`{"lifecycles": [{"name": "` + v.Lifecycle + `", "state": "` + v.State + `", "data": {"arm": "0"}}]}`))
	}
	f.Add([]byte(`{"observedGeneration": -1, "conditions": [{"type": "Paused", "status": "True"}, {"type": "Ready"}], "lifecycles": [{"name": "model", "state": "FromTheFuture",
		"machine": "turnstile-model@sha256:0", "attempt": {"id": "", "to": "C", "startedAt": null}, "edges": 2147483647, "deadline": "0001-01-01T00:00:00Z"}]}`))
	f.Add([]byte(`{"lifecycles": [{"name": "model", "state": "Replacing", "data": {"arm": "-1"}, "attempt": {"id": "x", "to": "A", "startedAt": "9999-12-31T23:59:59Z"}},
		{"name": "model", "state": "Settled"}, {"name": "nobody", "state": "Sealing"}], "summary": {"lifecycle": "", "state": "", "since": null}}`))
	f.Add([]byte(`{"lifecycles": [{"name": "lamp", "state": "Switching", "enteredAt": "9999-12-31T23:59:59Z", "progress": {"done": -1, "total": -9}, "history": [{"times": -2147483648, "at": null}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var status lifecyclev1.Status
		if json.Unmarshal(text, &status) != nil {
			return // no status
		}
		r := newLoneRig(t)
		r.rest()
		done := len(r.world.Log(gateKey))
		r.writes = nil
		r.status(func(s *api.TurnstileStatus) { s.Status = status })
		r.writes = nil
		for range 20 {
			r.advance(r.pass().RequeueAfter)
		}
		if log := r.world.Log(gateKey)[done:]; len(log) > 0 {
			t.Errorf("a status alone makes it %q", log)
		}
		for _, write := range r.writes {
			if write != "status" {
				t.Errorf("a status alone makes it %s", write)
			}
		}
		ready, stalled := r.condition("Ready"), r.condition("Stalled")
		if ready.Status != metav1.ConditionTrue && (ready.Message == "" || ready.Reason == "") {
			t.Errorf("says nothing of how it is: %+v, %+v", ready, stalled)
		}
		for _, c := range r.gate().Status.Conditions {
			if c.Reason == "Defect" || strings.Contains(c.Message, "panicked") {
				t.Errorf("a defect: %+v", c)
			}
		}
	})
}
