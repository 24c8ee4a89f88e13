package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestVersionSettledNamesNodes(t *testing.T) {
	v := &observation.Snapshot{Nodes: []observation.Node{
		{PodName: "c-b-0", Wanted: true, Pod: observation.Pod{Exists: true, Ready: true, Version: "4.1.1"}},
		{PodName: "c-b-1", Wanted: true, Pod: observation.Pod{Exists: true, Ready: true, Version: "4.0.0"}},
		{PodName: "c-b-2", Wanted: true},
		{PodName: "c-b-3"},
	}}
	if got := notOnVersion(v, "4.1.1"); got != "c-b-1, c-b-2" {
		t.Errorf("not on the version: %s", got)
	}
}

func TestLevelsSettledWithoutAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		old        metav1.Condition
		generation int64
		want       string
	}{
		"none was shown":             {want: "LevelsUnreadable"},
		"the levels were settled":    {old: metav1.Condition{Status: metav1.ConditionTrue, Reason: "Settled"}, want: "Settled"},
		"a registration was stale":   {old: metav1.Condition{Status: metav1.ConditionFalse, Reason: reasonStaleRegistration}, want: reasonStaleRegistration},
		"the spec was changed since": {old: metav1.Condition{Status: metav1.ConditionTrue, Reason: "Settled"}, generation: 1, want: "LevelsUnreadable"},
		"the version change went on": {old: metav1.Condition{Status: metav1.ConditionFalse, Reason: "Verifying"}, want: "LevelsUnreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Generation: tc.generation}}
			if tc.old.Type = VersionSettled; tc.old.Reason != "" {
				k.Status.Conditions = []metav1.Condition{tc.old}
			}
			if got := levelsSettled(k, &observation.Snapshot{}, nil, metav1.Condition{Type: VersionSettled, Status: metav1.ConditionFalse}); got.Reason != tc.want {
				t.Errorf("reason %s, want %s", got.Reason, tc.want)
			}
		})
	}
}

func TestStaleRegistrations(t *testing.T) {
	controller, both := observation.Roles{Controller: true}, observation.Roles{Controller: true, Broker: true}
	node := func(wanted, runs observation.Roles, pod bool) []observation.Node {
		n := observation.Node{ID: 3, Wanted: wanted != observation.Roles{}, RolesWanted: wanted, Recorded: true, Pod: observation.Pod{Exists: pod}}
		if n.Record.Roles = both.List(); pod {
			n.RolesRunning = runs
		}
		return []observation.Node{n}
	}
	for name, tc := range map[string]struct {
		nodes []observation.Node
		want  []string
	}{
		"a desired broker": {nodes: node(both, both, true)},
		"a desired broker whose pod is being created":   {nodes: node(both, both, false)},
		"a broker that leaves and runs":                 {nodes: node(observation.Roles{}, both, true)},
		"a broker that left":                            {nodes: node(observation.Roles{}, both, false), want: []string{"3"}},
		"nothing is left of the node":                   {want: []string{"3"}},
		"a node loses the broker role and runs with it": {nodes: node(controller, both, true)},
		"a node runs without the broker role":           {nodes: node(controller, controller, true), want: []string{"3"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, staleRegistrations(&observation.Snapshot{Nodes: tc.nodes}, []int32{3})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
