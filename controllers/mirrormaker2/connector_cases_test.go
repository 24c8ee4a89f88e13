package mirrormaker2_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	connectclient "github.com/detent-dev/detent/clients/connect"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// unready returns the message of the condition Ready while it is false.
func (r *rig) unready() string {
	c := meta.FindStatusCondition(r.get().Status.Conditions, lifecycle.Ready)
	if c == nil || c.Status != metav1.ConditionFalse {
		return ""
	}
	return c.Message
}

// TestKindRunsConnectors checks the cases kc-mock- and rest- of test/testdata/cases/offsets.yaml on a connector of MirrorMaker 2: the
// requests that are sent, and what is shown. These differ on purpose: a restart that Connect refuses makes the resource not ready, where
// Strimzi warns; a status that Connect does not have yet is awaited without an end, and shown; and a connector that has failed is paused, as
// its tasks may work.
func TestKindRunsConnectors(t *testing.T) {
	const resourcePath = "/connectors/" + source
	settle := func(r *rig) { r.until("that all is settled", r.settled) }
	shown := func(r *rig, parts ...string) {
		r.t.Helper()
		for _, part := range parts {
			r.until("that the status shows "+part, func() bool { return strings.Contains(r.unready(), part) })
		}
	}
	declare := func(s kafkav1beta2.ConnectorState) func(r *rig) {
		return func(r *rig) {
			r.edit(state(s))
			settle(r)
		}
	}
	answering := func(method, path string, code, times int) func(q *http.Request) *http.Response {
		return func(q *http.Request) *http.Response {
			if q.Method != method || q.URL.Path != path || times == 0 {
				return nil
			}
			times--
			return response(code, `{"error_code":500,"message":"not now"}`)
		}
	}
	const always = -1
	for name, tc := range map[string]struct {
		// fresh means that the connector does not exist yet.
		fresh bool
		do    []func(r *rig)
		want  []string
	}{
		"kc-mock-stop-resume":     {do: []func(r *rig){declare(kafkav1beta2.ConnectorStopped), declare(kafkav1beta2.ConnectorRunning)}, want: []string{"PUT " + resourcePath + "/stop", "PUT " + resourcePath + "/resume"}},
		"kc-mock-stop-then-unset": {do: []func(r *rig){declare(kafkav1beta2.ConnectorStopped), declare("")}, want: []string{"PUT " + resourcePath + "/stop", "PUT " + resourcePath + "/resume"}},
		"kc-mock-failed-to-paused": {do: []func(r *rig){func(r *rig) {
			r.answer = failed(r, source) //nolint:bodyclose // the client closes it
			r.edit(state(kafkav1beta2.ConnectorPaused))
			shown(r, source+" has failed")
			for range 60 {
				r.step()
			}
		}}, want: []string{"PUT " + resourcePath + "/pause"}},
		"kc-mock-failed-to-paused, and its tasks work": {do: []func(r *rig){func(r *rig) {
			r.connect.Fail(source)
			for range 3 { // the state is published
				r.step()
			}
			r.edit(state(kafkav1beta2.ConnectorPaused))
			r.until("that it is paused", func() bool { return slices.Contains(r.writes, "PUT "+resourcePath+"/pause") })
			for range 300 {
				r.step()
			}
			mirrored := r.connect.Mirrored(source)
			r.connect.Produce("orders", 5)
			r.step()
			if got := r.connect.Mirrored(source); got != mirrored {
				r.t.Errorf("%d records were mirrored after it was to pause", got-mirrored)
			}
			r.edit(state(kafkav1beta2.ConnectorRunning))
			r.until("that its tasks go on", func() bool { return r.connect.Mirrored(source) > mirrored })
		}}, want: []string{"PUT " + resourcePath + "/pause", "PUT " + resourcePath + "/resume"}},
		"kc-mock-config-change-uses-put": {do: []func(r *rig){func(r *rig) {
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Mirrors[0].SourceConnector.TasksMax = new(int32(1)) })
			settle(r)
		}}, want: []string{"PUT " + resourcePath + "/config"}},
		"kc-mock-create-rest-error": {fresh: true, do: []func(r *rig){func(r *rig) {
			r.answer = answering(http.MethodPost, "/connectors", http.StatusInternalServerError, 1) //nolint:bodyclose // the client closes it
			shown(r, "connector/"+source, "500: not now")
			settle(r)
		}}, want: []string{"POST /connectors", "POST /connectors"}},
		"rest-create-409-then-201": {fresh: true, do: []func(r *rig){func(r *rig) {
			r.answer = answering(http.MethodPost, "/connectors", http.StatusConflict, 1) //nolint:bodyclose // the client closes it
			settle(r)
		}}, want: []string{"POST /connectors", "POST /connectors"}},
		"rest-status-backoff-immediate": {fresh: true, do: []func(r *rig){settle}, want: []string{"POST /connectors"}},
		"rest-status-backoff-exhausted": {fresh: true, do: []func(r *rig){func(r *rig) {
			r.answer = r.published(source, func() (connectclient.Status, bool) { return connectclient.Status{}, false }) //nolint:bodyclose // the client closes it
			shown(r, "connector/"+source)
			for range 60 {
				r.step()
			}
			r.answer = nil
			settle(r)
		}}, want: []string{"POST /connectors"}},
		"rest-status-backoff-other-error": {do: []func(r *rig){func(r *rig) {
			r.answer = answering(http.MethodGet, "/connectors", http.StatusInternalServerError, always) //nolint:bodyclose // the client closes it
			r.edit(state(kafkav1beta2.ConnectorPaused))
			shown(r, "500: not now")
			r.answer = nil
			settle(r)
		}}, want: []string{"PUT " + resourcePath + "/pause"}},
		"kc-mock-restart-fails": {do: []func(r *rig){func(r *rig) {
			r.answer = answering(http.MethodPost, resourcePath+"/restart", http.StatusInternalServerError, 1) //nolint:bodyclose // the client closes it
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
				m.Annotations = map[string]string{"strimzi.io/restart-connector": source}
			})
			shown(r, "500: not now")
			if got := r.get().Annotations["strimzi.io/restart-connector"]; got != source {
				r.t.Errorf("the annotation is %q while the restart has failed", got)
			}
			r.until("that it is restarted", r.unannotated)
		}}, want: []string{"POST " + resourcePath + "/restart", "POST " + resourcePath + "/restart"}},
		"kc-mock-restart-task-ok": {do: []func(r *rig){func(r *rig) {
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
				m.Annotations = map[string]string{"strimzi.io/restart-connector-task": source + ":0"}
			})
			r.until("that it is restarted", r.unannotated)
		}}, want: []string{"POST " + resourcePath + "/tasks/0/restart"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.edit(only("", ""))
			if !tc.fresh {
				settle(r)
				r.writes = nil
			}
			for _, do := range tc.do {
				do(r)
			}
			if diff := cmp.Diff(tc.want, r.writes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestKindGoesOnAfterALostProcess checks that a connector which is stopped and configured by one edit gets there although the process that sent
// the stop, or the configuration, is replaced before it records the answer.
func TestKindGoesOnAfterALostProcess(t *testing.T) {
	for name, lost := range map[string]string{"after the stop": "/stop", "after the configuration": "/config"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.edit(only("", ""))
			r.until("that all is settled", r.settled)
			r.writes = nil
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
				state(kafkav1beta2.ConnectorStopped)(m)
				m.Spec.Mirrors[0].SourceConnector.TasksMax = new(int32(1))
			})
			r.until("that it is sent", func() bool { return slices.Contains(r.writes, "PUT /connectors/"+source+lost) })
			r.start()
			r.until("that all is settled", r.settled)
			want := []string{"PUT /connectors/" + source + "/stop", "PUT /connectors/" + source + "/config"}
			if diff := cmp.Diff(want, r.writes); diff != "" {
				t.Error(diff)
			}
			r.edit(state(kafkav1beta2.ConnectorRunning))
			r.until("that all is settled", r.settled)
		})
	}
}

// TestKindRetriesToRemoveAnnotations checks kc-reset-annotation-removal-fails of test/testdata/cases/offsets.yaml: while the annotations of a
// change that was executed cannot be removed, a warning says so, and the change is not executed again.
func TestKindRetriesToRemoveAnnotations(t *testing.T) {
	const denied = "admission denied"
	for operation, reason := range map[string]string{"alter": "AlterOffsets", "reset": "ResetOffsets"} {
		t.Run(operation, func(t *testing.T) {
			r := stopped(t, body(altered))
			server := &refusing{Client: r.client}
			server.refuse = func(verb, name string) error {
				if verb == "patch" && name == "my-mm2" && len(r.changes()) > 0 {
					return errors.New(denied)
				}
				return nil
			}
			r.client = server
			r.start()
			r.annotate(operation, source)
			r.until("the warning", func() bool {
				return strings.Contains(r.warning(reason), denied) && strings.Contains(r.warning(reason), source)
			})
			for range 120 {
				r.step()
			}
			if got := r.get().Annotations["strimzi.io/connector-offsets"]; got != operation {
				t.Errorf("the annotation is %q", got)
			}
			server.refuse = nil
			r.until("that it is done", r.unannotated)
			if got := r.changes(); len(got) != 1 {
				t.Errorf("sent %v, want one change", got)
			}
		})
	}
}

// TestKindShowsThatConnectIsNotReached checks kc-mock-connect-unreachable of test/testdata/cases/offsets.yaml: a resource at rest is not ready
// while Connect does not answer, and the status says so.
func TestKindShowsThatConnectIsNotReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPolled(t, hindrance{})
		p.settles("created", 60)
		p.instead = func(r *http.Request) (*http.Response, error, bool) {
			<-r.Context().Done()
			return nil, r.Context().Err(), true
		}
		for range 60 {
			if strings.Contains(p.unready(), "no answer within") {
				break
			}
			p.second()
		}
		if got := p.unready(); !strings.Contains(got, "no answer within") {
			t.Errorf("the resource is not ready due to %q, want that Connect does not answer", got)
		}
		p.instead = nil
		p.settles("reached again", 120)
	})
}
