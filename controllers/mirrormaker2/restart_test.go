package mirrormaker2_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	connectclient "github.com/detent-dev/detent/clients/connect"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/simulator/connect"
)

// failed answers that a connector has failed.
func failed(r *rig, connector string) func(q *http.Request) *http.Response {
	status := connectclient.Status{Name: connector, Type: "source", Connector: connectclient.WorkerState{State: connectclient.Failed}}
	return r.published(connector, func() (connectclient.Status, bool) { return status, true }) //nolint:bodyclose // the client closes it
}

// published answers with a state of a connector, or that none is published yet.
func (r *rig) published(connector string, state func() (connectclient.Status, bool)) func(q *http.Request) *http.Response {
	return func(q *http.Request) *http.Response {
		if q.Method != http.MethodGet || q.URL.Path != "/connectors" || q.URL.Query().Get("expand") != "status" {
			return nil
		}
		worker, ok := r.connect.Any()
		if !ok {
			return nil
		}
		var all map[string]map[string]connectclient.Status
		r.must(json.Unmarshal([]byte(r.connect.Handle(worker, connect.Request{Method: q.Method, Path: q.URL.Path, Query: q.URL.Query()}).Body), &all))
		delete(all, connector)
		if s, published := state(); published {
			all[connector] = map[string]connectclient.Status{"status": s}
		}
		text, err := json.Marshal(all)
		r.must(err)
		return response(http.StatusOK, string(text))
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
			synctest.Test(t, func(t *testing.T) {
				p := newPolled(t, hindrance{})
				p.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].SourceConnector.AutoRestart = tc.auto })
				p.settles("created", 60)
				p.rests(20 * time.Minute)
				if diff := cmp.Diff(tc.want, p.restarted(4, 14)); diff != "" {
					t.Errorf("minutes of the restarts (-want +got): %s", diff)
				}
				shown := p.get().Status.AutoRestartStatuses
				if len(tc.want) == 0 && len(shown) == 0 {
					return
				}
				if len(shown) != 1 || shown[0].ConnectorName != source || int(shown[0].Count) != len(tc.want) {
					t.Errorf("the status shows %+v", shown)
				}
				p.answer = nil
				p.rests(time.Hour)
				if shown := p.get().Status.AutoRestartStatuses; len(shown) > 0 {
					t.Errorf("it has run for an hour, and the status shows %+v", shown)
				}
				if diff := cmp.Diff(tc.want, p.restarted()); diff != "" {
					t.Errorf("minutes of the restarts after the next failure (-want +got): %s", diff)
				}
			})
		})
	}
}

// TestKindReadsConnectorsAtRest checks that a resource at rest reads the states of its connectors every two minutes, and writes nothing.
func TestKindReadsConnectorsAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled(t, hindrance{})
		p.settles("created", 60)
		p.rests(10 * time.Minute)
		p.reads, p.apiWrites, p.writes = 0, nil, nil
		p.rests(20 * time.Minute)
		if len(p.apiWrites) > 0 || len(p.writes) > 0 {
			t.Errorf("at rest it writes %v and %v", p.apiWrites, p.writes)
		}
		if each := 2; p.reads < 9*each || p.reads > 11*each {
			t.Errorf("%d reads of Connect in twenty minutes at rest, want %d for each of ten", p.reads, each)
		}
	})
}

// rests lets time pass.
func (p *polled) rests(d time.Duration) {
	p.t.Helper()
	for range d / time.Second {
		p.second()
	}
}

// restarted lets the source connector fail for 25 minutes and returns the minutes in which it was restarted, from the first restart. In the
// given minutes another operator takes over. The first restart follows within two minutes and a few seconds.
func (p *polled) restarted(takeovers ...int) []int {
	p.t.Helper()
	p.answer = failed(p.rig, source) //nolint:bodyclose // the client closes it
	var minutes []int
	var first time.Time
	failed := time.Now()
	for minute := range 25 {
		if slices.Contains(takeovers, minute) {
			p.restart()
		}
		for range 60 {
			p.writes = nil
			p.second()
			for _, w := range p.writes {
				if w != "POST /connectors/"+source+"/restart" {
					p.t.Fatalf("sent %s", w)
				}
				if minutes == nil {
					first = time.Now()
				}
				minutes = append(minutes, int(time.Since(first).Round(time.Minute).Minutes()))
			}
		}
	}
	if noticed := first.Sub(failed); noticed > 2*time.Minute+10*time.Second {
		p.t.Errorf("it was restarted %s after it had failed", noticed)
	}
	return minutes
}
