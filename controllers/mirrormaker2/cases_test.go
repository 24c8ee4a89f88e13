package mirrormaker2_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// only declares one connector, in a state, and a request for its offsets.
func only(s kafkav1beta2.ConnectorState, operation string) func(m *kafkav1beta2.KafkaMirrorMaker2) {
	return func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Spec.Mirrors[0].CheckpointConnector, m.Spec.Mirrors[0].HeartbeatConnector = nil, nil
		m.Spec.Mirrors[0].SourceConnector.State = s
		if operation != "" {
			m.Annotations = requests(operation, source)
		}
	}
}

// TestKindCreatesConnectorsInTheirStates is about mm2-mock-created-stopped and mm2-mock-created-paused of
// test/testdata/cases/offsets.yaml.
func TestKindCreatesConnectorsInTheirStates(t *testing.T) {
	for name, s := range map[string]kafkav1beta2.ConnectorState{"mm2-mock-created-stopped": kafkav1beta2.ConnectorStopped, "mm2-mock-created-paused": kafkav1beta2.ConnectorPaused} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.edit(only(s, ""))
			r.until("that all is settled", r.settled)
			if diff := cmp.Diff([]string{"POST /connectors"}, r.writes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestKindWaitsForAConnector is about mm2-op-while-connector-absent: the request waits until the connector is created.
func TestKindWaitsForAConnector(t *testing.T) {
	r := newRig(t)
	r.edit(only(kafkav1beta2.ConnectorStopped, "reset"))
	r.until("that it is done", r.unannotated)
	if diff := cmp.Diff([]string{"POST /connectors", "DELETE /connectors/" + source + "/offsets"}, r.writes); diff != "" {
		t.Error(diff)
	}
}

// TestKindWaitsForWorkers is about mm2-op-with-zero-replicas: nothing is asked while there is no worker, and the request is carried out when
// there is one.
func TestKindWaitsForWorkers(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	replicas := func(n int32) func(m *kafkav1beta2.KafkaMirrorMaker2) {
		return func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Replicas = &n }
	}
	r.edit(replicas(0))
	for range 30 {
		r.step()
	}
	r.annotate("list", source)
	for range 60 {
		r.step()
	}
	if got := r.get().Annotations["strimzi.io/connector-offsets"]; got != "list" || r.configMap("my-mm2-offsets") != nil {
		t.Errorf("without workers the annotation is %q", got)
	}
	r.edit(replicas(1))
	r.until("that it is done", r.unannotated)
}

// TestKindQuotesConnect is about mm2-alter-rest-409 and mm2-reset-rest-500: the warning quotes Connect, the annotations stay, and the request
// is carried out once Connect accepts it.
func TestKindQuotesConnect(t *testing.T) {
	for name, tc := range map[string]struct {
		operation, method, reason, want string
		code                            int
	}{
		"mm2-alter-rest-409": {operation: "alter", method: http.MethodPatch, code: 409, reason: "AlterOffsets", want: "409: not now"},
		"mm2-reset-rest-500": {operation: "reset", method: http.MethodDelete, code: 500, reason: "ResetOffsets", want: "500: not now"},
	} {
		t.Run(name, func(t *testing.T) {
			r := stopped(t, body(altered))
			r.answer = func(q *http.Request) *http.Response {
				if q.Method != tc.method || !strings.HasSuffix(q.URL.Path, "/offsets") {
					return nil
				}
				return response(tc.code, `{"message":"not now"}`)
			}
			r.annotate(tc.operation, source)
			r.until("the warning", func() bool { return strings.Contains(r.warning(tc.reason), tc.want) })
			if got := r.get().Annotations["strimzi.io/connector-offsets"]; got != tc.operation || !strings.Contains(r.warning(tc.reason), source) {
				t.Errorf("annotation %q, warning %q", got, r.warning(tc.reason))
			}
			r.answer = nil
			r.until("that it is done", r.unannotated)
		})
	}
}

// TestKindPauses is about mm2-mock-pause-reconciliation.
func TestKindPauses(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Annotations = requests("list", source)
		m.Annotations[labels.Pause] = "true"
	})
	r.until("the condition", func() bool {
		return slices.ContainsFunc(r.get().Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == lifecycle.Paused && c.Status == metav1.ConditionTrue
		})
	})
	for range 30 {
		r.step()
	}
	if r.configMap("my-mm2-offsets") != nil {
		t.Error("a request was carried out during the pause")
	}
	m := r.get()
	delete(m.Annotations, labels.Pause)
	r.must(r.client.Update(context.Background(), m))
	r.until("that it is done", r.unannotated)
}
