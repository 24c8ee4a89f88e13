package observation

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/connection"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kafkaversion"
	"github.com/detent-dev/detent/machines/roll"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	"github.com/detent-dev/detent/transitions"
)

// The id of a cluster follows from its UID, never begins with a dash, and has Kafka's form.
func TestNewClusterID(t *testing.T) {
	seen := map[string]bool{}
	for i := range 500 {
		k := &kafkav1beta2.Kafka{}
		k.UID = types.UID(strings.Repeat("x", i+1))
		id := newClusterID(k)
		if len(id) != 22 || strings.HasPrefix(id, "-") || seen[id] || id != newClusterID(k) {
			t.Fatalf("id %q of UID number %d", id, i)
		}
		seen[id] = true
	}
}

// Of all questions only the one about levels is asked for sooner: the exploration found a cluster whose status was wiped while a
// request was under way at rest on a level that changed unseen.
func TestInFlightRefreshesOnlyLevelsSooner(t *testing.T) {
	v := Snapshot{InFlight: external.InFlight{Until: noon.Add(time.Minute), Sent: true}}
	got := v.queries(lifecycle.ObserveRequest{
		Needs: []transitions.Need{kafkaversion.NeedFeatures, roll.NeedQuorum}, Now: noon,
		MaxAge: func(transitions.Need) time.Duration { return 10 * time.Minute },
	})
	want := []connection.Query{
		{Question: kafkaclient.Question{About: kafkaclient.AboutFeatures}, MaxAge: 10 * time.Minute, Renew: time.Second, Again: 5 * time.Second},
		{Question: kafkaclient.Question{About: kafkaclient.AboutQuorum}, MaxAge: 10 * time.Minute},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
}

func TestCollectKeepsRolesOfStartedNodes(t *testing.T) {
	controller, broker, both := Roles{Controller: true}, Roles{Broker: true}, Roles{Controller: true, Broker: true}
	for name, tc := range map[string]struct{ recorded, wanted, want Roles }{
		"as before":                  {recorded: both, wanted: both, want: both},
		"a broker is not taken away": {recorded: both, wanted: controller, want: both},
		"a broker is added":          {recorded: controller, wanted: both, want: both},
		"no controller is added":     {recorded: broker, wanted: both, want: broker},
		"no controller is taken":     {recorded: both, wanted: broker, want: both},
	} {
		t.Run(name, func(t *testing.T) {
			n := Node{Recorded: true, RolesWanted: tc.wanted}
			n.Record.Roles, n.Record.Version = tc.recorded.List(), "4.1.1"
			if got := settledRoles(&n); got != tc.want {
				t.Errorf("roles of a node that was started: %+v, want %+v", got, tc.want)
			}
			n.Record.Version = ""
			if got := settledRoles(&n); got != tc.wanted {
				t.Errorf("roles of a node that never was: %+v, want %+v", got, tc.wanted)
			}
		})
	}
}
