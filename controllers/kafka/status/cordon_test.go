package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

func TestCordonedBrokers(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	cordoned := map[int32]kafkaclient.Settings{0: {}, 1: {kafkaclient.ConfigCordonedLogDirs: {Broker: new(kafkaclient.CordonedAll)}}}
	left := observation.Node{ID: 1, PodName: "c-b-1", Wanted: true}
	leaving, draining := left, left
	leaving.Wanted, draining.Record = false, record.Record{Draining: 3}
	const want = "cordoned, and so without new replicas: broker 1 (c-b-1). No drain is in progress. Unless it is meant, lift it: " +
		"kafka-configs.sh --alter --entity-type brokers --entity-name <id> --delete-config cordoned.log.dirs"
	for name, tc := range map[string]struct {
		node     observation.Node
		settings transitions.Fact[map[int32]kafkaclient.Settings]
		state    string
		shown    string
		want     string
	}{
		"left from a broker of the same id":             {node: left, settings: transitions.Known(cordoned, noon), want: want},
		"no broker is cordoned":                         {node: left, settings: transitions.Known(map[int32]kafkaclient.Settings{1: {}}, noon)},
		"Kafka was not asked":                           {node: left},
		"the broker leaves":                             {node: leaving, settings: transitions.Known(cordoned, noon)},
		"its drain is being ended":                      {node: draining, settings: transitions.Known(cordoned, noon)},
		"a broker is being removed":                     {node: left, settings: transitions.Known(cordoned, noon), state: kraftscaledown.EndingDrain},
		"the answer is older than the end of a removal": {node: left, settings: transitions.Known(cordoned, noon.Add(-time.Minute))},
		"a process that starts keeps what is shown":     {node: left, shown: "as before", want: "as before"},
		"until it knows better":                         {node: left, shown: "as before", settings: transitions.Known(map[int32]kafkaclient.Settings{1: {}}, noon)},
		"a removal begins":                              {node: left, shown: "as before", state: kraftscaledown.AwaitingEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			entry := lifecyclev1.Lifecycle{Name: observation.LifecycleScaleDown, State: kraftscaledown.Steady, EnteredAt: metav1.NewTime(noon)}
			if tc.state != "" {
				entry.State = tc.state
			}
			k := &kafkav1beta2.Kafka{}
			k.Status.Lifecycles = []lifecyclev1.Lifecycle{entry}
			if tc.shown != "" {
				k.Status.Conditions = []metav1.Condition{{Type: lifecycle.Warning, Reason: ReasonBrokerCordoned, Message: tc.shown}}
			}
			v := &observation.Snapshot{Nodes: []observation.Node{tc.node}, Settings: tc.settings}
			if diff := cmp.Diff(tc.want, message(cordonedBrokers(k, v))); diff != "" {
				t.Errorf("warning (-want +got):\n%s", diff)
			}
		})
	}
}
