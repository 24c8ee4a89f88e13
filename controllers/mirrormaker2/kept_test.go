package mirrormaker2_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/detent-dev/detent/clients/connect"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	simulated "github.com/detent-dev/detent/simulator/connect"
)

// TestOffsetsAreKeptAgain checks that the offsets are kept again if the connector has run between the first time and the change: a restore
// must not mirror again what was mirrored since.
func TestOffsetsAreKeptAgain(t *testing.T) {
	runs := func(r *rig, edit func(m *kafkav1beta2.KafkaMirrorMaker2)) {
		r.edit(edit)
		r.steps(60)
		r.connect.Produce("orders", 100)
		r.steps(60)
		r.edit(state(kafkav1beta2.ConnectorStopped))
	}
	for name, resumed := range map[string]func(r *rig){
		"by an edit, before the change was sent": func(r *rig) {
			r.start() // the operator restarts between the two
			runs(r, state(kafkav1beta2.ConnectorRunning))
		},
		"by an edit that removes the annotations": func(r *rig) {
			r.start()
			runs(r, func(m *kafkav1beta2.KafkaMirrorMaker2) {
				state(kafkav1beta2.ConnectorRunning)(m)
				m.Annotations = nil
			})
			r.annotate("reset", source)
		},
		"by another program, so that Connect refuses the change": func(r *rig) {
			r.answer = func(q *http.Request) *http.Response {
				if q.Method != http.MethodDelete {
					return nil
				}
				r.answer = nil
				r.connect.Handle(0, simulated.Request{Method: http.MethodPut, Path: q.URL.Path[:strings.LastIndex(q.URL.Path, "/")] + "/resume"})
				r.connect.Tick(r.connect.Now + 10_000)
				r.connect.Produce("orders", 100)
				r.connect.Tick(r.connect.Now + 90_000)
				return response(http.StatusBadRequest, `{"error_code":400,"message":"Connectors must be in the STOPPED state before their offsets can be modified."}`)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := stopped(t)
			r.annotate("reset", source)
			r.until("that the offsets are kept", func() bool { return r.configMap("my-mm2-offsets-before") != nil })
			if changes := r.changes(); len(changes) > 0 {
				t.Fatalf("sent %v already", changes)
			}
			resumed(r)
			r.until("that they are reset", r.unannotated)
			got := r.configMap("my-mm2-offsets-before").Data[connect.EntryName(source)]
			if !strings.Contains(got, `"offset":199`) {
				t.Errorf("kept %s, want offset 199", got)
			}
		})
	}
}
