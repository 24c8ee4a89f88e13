package mirrormaker2_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	connectclient "github.com/detent-dev/detent/clients/connect"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// failed answers that a connector has failed.
func failed(connector string) func(r *http.Request) *http.Response {
	return func(r *http.Request) *http.Response {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, connector+"/status") {
			return nil
		}
		answer := httptest.NewRecorder()
		_ = json.NewEncoder(answer).Encode(connectclient.Status{Name: connector, Type: "source", Connector: connectclient.WorkerState{State: connectclient.Failed}})
		return answer.Result()
	}
}

// TestKindRestartsFailedConnectors checks that a connector that fails again and again is restarted with a back-off, also by an operator that
// has just started, up to the number that the spec permits; and that the count is shown, and ends when the connector runs.
func TestKindRestartsFailedConnectors(t *testing.T) {
	for name, tc := range map[string]struct {
		auto *kafkav1beta2.AutoRestart
		// want are the minutes from the first restart.
		want []int
	}{
		"not declared":              {nil, nil},
		"disabled":                  {&kafkav1beta2.AutoRestart{Enabled: new(false)}, nil},
		"after 2, 6 and 12 minutes": {&kafkav1beta2.AutoRestart{Enabled: new(true)}, []int{0, 2, 8, 20}},
		"at most twice":             {&kafkav1beta2.AutoRestart{MaxRestarts: new(int32(2))}, []int{0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].SourceConnector.AutoRestart = tc.auto })
			r.until("that all is settled", r.settled)
			if diff := cmp.Diff(tc.want, r.restarted(4, 14)); diff != "" {
				t.Errorf("minutes of the restarts (-want +got): %s", diff)
			}
			shown := r.get().Status.AutoRestartStatuses
			if len(tc.want) == 0 && len(shown) == 0 {
				return
			}
			if len(shown) != 1 || shown[0].ConnectorName != source || int(shown[0].Count) != len(tc.want) {
				t.Errorf("the status shows %+v", shown)
			}
			r.answer = nil
			for range 60 {
				r.stride(time.Minute)
			}
			if shown := r.get().Status.AutoRestartStatuses; len(shown) > 0 {
				t.Errorf("it has run for an hour, and the status shows %+v", shown)
			}
			if diff := cmp.Diff(tc.want, r.restarted()); diff != "" {
				t.Errorf("minutes of the restarts after the next failure (-want +got): %s", diff)
			}
		})
	}
}

// restarted lets the source connector fail for 25 minutes and returns the minutes in which it was restarted, from the first restart. In the
// given minutes another operator takes over.
func (r *rig) restarted(takeovers ...int) []int {
	r.t.Helper()
	r.answer = failed(source) //nolint:bodyclose // the client closes it
	var minutes []int
	var first time.Time
	for minute := range 25 {
		if slices.Contains(takeovers, minute) {
			r.start()
		}
		for range 12 {
			r.writes = nil
			r.stride(5 * time.Second)
			for _, w := range r.writes {
				if w != "POST /connectors/"+source+"/restart" {
					r.t.Fatalf("sent %s", w)
				}
				if minutes == nil {
					first = r.clock.Now()
				}
				minutes = append(minutes, int(r.clock.Since(first).Round(time.Minute).Minutes()))
			}
		}
	}
	return minutes
}
