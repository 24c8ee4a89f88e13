package mirrormaker2_test

import (
	"net/http"
	"strings"
	"testing"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/connectoroffsets"
)

// TestKindForgetsWithdrawnRequests checks that nothing is left on the resource when a user removes the annotations of a request in a state
// in which it waits, and that the same request can be set again.
func TestKindForgetsWithdrawnRequests(t *testing.T) {
	const refusal = `{"error_code":400,"message":"not these"}`
	for name, tc := range map[string]struct {
		state string
		// hinder answers a request to Connect, so that the request comes to the state; nil if Connect answers.
		hinder func(q *http.Request) *http.Response
	}{
		"failed": {connectoroffsets.Failed, func(q *http.Request) *http.Response {
			if q.Method == http.MethodPatch {
				return response(http.StatusBadRequest, refusal)
			}
			return nil
		}},
		"mismatched": {connectoroffsets.Mismatched, func(q *http.Request) *http.Response {
			if q.Method == http.MethodPatch { // confirmed, and nothing is changed
				return response(http.StatusOK, `{"message":"altered"}`)
			}
			return nil
		}},
		"awaiting the stop": {connectoroffsets.AwaitingStopped, func(q *http.Request) *http.Response {
			if strings.HasSuffix(q.URL.Path, source+"/tasks") {
				return response(http.StatusInternalServerError, `{"error_code":500,"message":"hangs"}`)
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, body(altered))
			r.until("that all is settled", r.settled)
			r.edit(state(kafkav1beta2.ConnectorStopped))
			r.until("that it is stopped", r.settled)
			r.answer = tc.hinder
			r.annotate("alter", source)
			r.until("the state "+tc.state, func() bool { return r.offsetsIn(source) == tc.state })
			if r.get().Annotations["detent.dev/offsets-request"] == "" {
				t.Fatal("the request is not shown")
			}
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
				delete(m.Annotations, "strimzi.io/connector-offsets")
				delete(m.Annotations, "strimzi.io/mirrormaker-connector")
			})
			r.until("that nothing is left of it", func() bool { return len(r.get().Annotations) == 0 && r.offsetsIn(source) == connectoroffsets.Idle })
			r.answer = nil
			r.annotate("alter", source)
			r.until("that it is done when it is set again", r.unannotated)
		})
	}
}

// offsetsIn is the state of the lifecycle of the offsets of a connector.
func (r *rig) offsetsIn(connector string) string {
	for _, l := range r.get().Status.Lifecycles {
		if l.Name == machines.EntryName(connectoroffsets.Name, connector) {
			return l.State
		}
	}
	return ""
}
