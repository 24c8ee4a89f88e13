package observation

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/transitions"
)

func TestAcceptanceOf(t *testing.T) {
	pending := transitions.Pending[map[int32]kafkaclient.Settings]()
	for name, c := range map[string]struct {
		state    string
		settings transitions.Fact[map[int32]kafkaclient.Settings]
		down     bool
		want     Acceptance
	}{
		"at rest":                          {state: dynamicconfig.Settled, want: Unopposed},
		"no broker has answered yet":       {state: dynamicconfig.Settled, settings: pending, want: Asking},
		"no persisted state":               {settings: pending, want: Asking},
		"the brokers cannot be asked":      {state: dynamicconfig.Settled, settings: transitions.Unreadable[map[int32]kafkaclient.Settings](errors.New("timeout")), want: Unopposed},
		"no answer yet, and none serves":   {state: dynamicconfig.Settled, settings: pending, down: true, want: Unopposed},
		"being recorded":                   {state: dynamicconfig.Remembering, want: Asking},
		"being altered":                    {state: dynamicconfig.Altering, want: Asking},
		"being altered, and none serves":   {state: dynamicconfig.Altering, down: true, want: Unopposed},
		"Kafka does not answer a request":  {state: dynamicconfig.AwaitingRetry, settings: pending, want: Unopposed},
		"a refused value":                  {state: dynamicconfig.Refusing, want: Opposed},
		"a refused value, and none serves": {state: dynamicconfig.Refusing, down: true, want: Opposed},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{}
			if c.state != "" {
				k.Status.Lifecycles = []lifecyclev1.Lifecycle{{Name: LifecycleConfiguration, State: c.state}}
			}
			both := Roles{Broker: true, Controller: true}
			v := &Snapshot{unanswered: isPending(c.settings), Nodes: []Node{{Roles: both, RolesRunning: both, Wanted: true, Pod: Pod{Exists: true, Ready: !c.down}}}}
			if got := AcceptanceOf(k, v); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func TestAlteredRecordRoundTrip(t *testing.T) {
	for name, c := range map[string]struct {
		data map[string]string
		want []string
	}{
		"values":                             {AlteredRecord([]string{"a=1", "a=2", "log.cleanup.policy=compact, delete"}), []string{"a=1", "a=2", "log.cleanup.policy=compact, delete"}},
		"values with line breaks":            {AlteredRecord([]string{"a=1\n", "a=\"1\"", "b=\nc=2\n"}), []string{"a=\"1\"", "a=1\n", "b=\nc=2\n"}},
		"a name and a value":                 {AlteredRecord([]string{"a", "a=1"}), []string{"a", "a=1"}},
		"a record of an earlier release":     {map[string]string{keyAltered: "b a"}, []string{"a", "b"}},
		"an entry whose name was taken away": {map[string]string{keyAltered: "b", keyValues: "a=1\nb=2"}, []string{"b=2"}},
		"nothing":                            {AlteredRecord(nil), nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := &corev1.ConfigMap{Data: c.data}
			m.Name, m.Labels = render.AlteredName("c"), map[string]string{labels.Record: labels.RecordConfiguration}
			k := &kafkav1beta2.Kafka{}
			k.Name = "c"
			v := &Snapshot{Objects: Objects{ConfigMaps: []*corev1.ConfigMap{m}}}
			if got := v.Altered(k); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
