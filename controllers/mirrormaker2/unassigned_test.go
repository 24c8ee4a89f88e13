package mirrormaker2_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	connectclient "github.com/detent-dev/detent/clients/connect"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// TestKindKeepsAPausedConnectorWithoutAWorker: a worker leaves, and Connect assigns its connector again after minutes only. A paused one is as
// declared meanwhile. Without the status one request makes sure that Connect has stored the pause.
func TestKindKeepsAPausedConnectorWithoutAWorker(t *testing.T) {
	pause := []string{"PUT /connectors/" + source + "/pause"}
	for name, tc := range map[string]struct {
		declared kafkav1beta2.ConnectorState
		lost     bool // the status
		want     []string
	}{
		"it runs":                          {declared: kafkav1beta2.ConnectorRunning},
		"it is paused":                     {declared: kafkav1beta2.ConnectorPaused},
		"it is paused, and without status": {declared: kafkav1beta2.ConnectorPaused, lost: true, want: pause},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.edit(state(tc.declared))
			r.until("that all is settled", r.settled)
			r.steps(30)
			r.writes = nil
			status := connectclient.Status{Name: source, Type: "source", Connector: connectclient.WorkerState{State: connectclient.Unassigned}}
			r.answer = r.published(source, func() (connectclient.Status, bool) { return status, true }) //nolint:bodyclose // the client closes it
			if tc.lost {
				m := r.get()
				m.Status = kafkav1beta2.KafkaMirrorMaker2Status{}
				r.must(r.client.Status().Update(t.Context(), m))
				r.until("that all is settled again", r.settled)
			}
			for step := range 330 {
				r.step()
				if !r.settled() {
					t.Fatalf("after %d s it is not ready: %s", step, r.unready())
				}
			}
			if diff := cmp.Diff(tc.want, r.writes); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}
