package observation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestRestarts(t *testing.T) {
	declared := map[string]render.Connector{}
	for name, state := range map[string]kafkav1beta2.ConnectorState{"runs": "", "stopped": kafkav1beta2.ConnectorStopped} {
		declared[name] = render.Connector{Spec: kafkav1beta2.NamedConnector{MirrorMaker2Connector: &kafkav1beta2.MirrorMaker2Connector{State: state}}}
	}
	const later = " is stopped by its state in the spec: it is restarted once it is to run again; remove the annotation "
	for name, tc := range map[string]struct {
		annotations map[string]string
		requested   int
		problem     string
	}{
		"none":                          {},
		"a connector":                   {map[string]string{RestartConnector: "runs"}, 1, ""},
		"a connector that is stopped":   {map[string]string{RestartConnector: "stopped:includeTasks"}, 1, "the connector stopped" + later + RestartConnector + " if it is not to be"},
		"a task of a stopped connector": {map[string]string{RestartTask: "stopped:0"}, 1, "the connector stopped" + later + RestartTask + " if it is not to be"},
		"an unknown connector": {
			map[string]string{RestartConnector: "other"}, 0,
			"the annotation " + RestartConnector + " is not NAME or NAME:includeTasks,onlyFailed with the name of a connector of the spec: correct or remove it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			requested, problem := restarts(tc.annotations, declared)
			text := ""
			if problem != nil {
				text = problem.Message
			}
			if diff := cmp.Diff(tc.problem, text); diff != "" || len(requested) != tc.requested {
				t.Errorf("%d restarts, want %d; problem (-want +got):\n%s", len(requested), tc.requested, diff)
			}
		})
	}
}
