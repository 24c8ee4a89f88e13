package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/nodeids"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

func TestUnsupportedChanges(t *testing.T) {
	broker, both := observation.Roles{Broker: true}, observation.Roles{Controller: true, Broker: true}
	node := func(pool string, id int32, wanted bool, runs, declared observation.Roles) observation.Node {
		return observation.Node{ID: id, Pool: pool, PodName: observation.PodName("c", pool, id), Wanted: wanted, Roles: runs, RolesWanted: declared, Pod: observation.Pod{Exists: true, Ready: true}}
	}
	stopped := func(n observation.Node) observation.Node {
		n.RolesRunning, n.Recorded, n.Record = n.Roles, true, record.Record{Leaving: !n.Wanted, Stop: true, Roles: n.Roles.List()}
		return n
	}
	for name, tc := range map[string]struct {
		nodes []observation.Node
		want  []nodeids.Warning
	}{
		"all as declared": {nodes: []observation.Node{node("b", 0, true, broker, broker), node("b", 1, true, broker, broker)}},
		"fewer nodes are declared": {
			nodes: []observation.Node{node("b", 0, true, broker, broker), node("b", 1, true, broker, broker), node("b", 2, false, broker, observation.Roles{}), node("b", 3, false, broker, observation.Roles{})},
			want: []nodeids.Warning{{Pool: "b", Reason: ReasonScaleDownPending, Message: "KafkaNodePool b wants 2 nodes, and c-b-2, c-b-3 leave. A broker goes once it holds no replica: " +
				"move its replicas, annotate the Kafka with detent.dev/drain=true, or set spec.replicas back to 4"}},
		},
		"a controller is declared a broker alone": {
			nodes: []observation.Node{node("b", 0, true, both, broker), node("b", 1, true, broker, broker)},
			want: []nodeids.Warning{{Pool: "b", Reason: ReasonRolesNotChanged, Message: "KafkaNodePool b declares other roles than c-b-0 run with: controllers of a static quorum " +
				"cannot change, and a broker with partitions is not taken away: set spec.roles back, or make another pool"}},
		},
		"one of the nodes that leave was stopped": {
			nodes: []observation.Node{node("b", 0, true, broker, broker), node("b", 2, false, broker, observation.Roles{}), stopped(node("b", 3, false, broker, observation.Roles{}))},
			want: []nodeids.Warning{
				{Pool: "b", Reason: ReasonScaleDownPending, Message: "KafkaNodePool b wants 2 nodes, and c-b-2 leave. A broker goes once it holds no replica: " +
					"move its replicas, annotate the Kafka with detent.dev/drain=true, or set spec.replicas back to 4"},
				{Pool: "b", Reason: ReasonScaleDownPending, Message: "KafkaNodePool b: stopped, and waiting to be unregistered: c-b-3. The lifecycle scale-down shows what is waited for"},
			},
		},
		"a node that loses the broker role was stopped": {
			nodes: []observation.Node{stopped(node("b", 0, true, both, observation.Roles{Controller: true}))},
			want:  []nodeids.Warning{{Pool: "b", Reason: ReasonScaleDownPending, Message: "KafkaNodePool b: stopped, and waiting to be unregistered: c-b-0. The lifecycle scale-down shows what is waited for"}},
		},
		"a node of a deleted pool was stopped": {
			nodes: []observation.Node{stopped(node("x", 7, false, broker, observation.Roles{}))},
			want:  []nodeids.Warning{{Pool: "x", Reason: ReasonOrphaned, Message: "KafkaNodePool x: stopped, and waiting to be unregistered: c-x-7. The lifecycle scale-down shows what is waited for"}},
		},
		"a removed node whose pod is gone": {nodes: []observation.Node{{ID: 2, Pool: "b", PodName: "c-b-2"}}},
	} {
		t.Run(name, func(t *testing.T) {
			pool := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: kafkav1beta2.KafkaNodePoolSpec{Replicas: 2}}
			v := &observation.Snapshot{Nodes: tc.nodes, Objects: observation.Objects{Pools: []*kafkav1beta2.KafkaNodePool{pool}}}
			if diff := cmp.Diff(tc.want, unsupportedChanges(v)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangesPermitted(t *testing.T) {
	controller, both := observation.Roles{Controller: true}, observation.Roles{Controller: true, Broker: true}
	kept := func(runs, declared observation.Roles) observation.Node {
		return observation.Node{Pool: "c", PodName: "k-c-0", Wanted: true, Roles: runs, RolesWanted: declared, Pod: observation.Pod{Exists: true, Ready: true}}
	}
	frozen := nodeids.Warning{Pool: "c", Reason: nodeids.ReasonFrozen, Message: "KafkaNodePool c stays at 3 nodes"}
	roles := "KafkaNodePool c declares other roles than k-c-0 run with: controllers of a static quorum cannot change, and a broker with partitions is not taken away: " +
		"set spec.roles back, or make another pool"
	leaves := kept(controller, controller)
	leaves.Wanted = false
	for name, tc := range map[string]struct {
		warnings []nodeids.Warning
		node     observation.Node
		want     metav1.Condition
	}{
		"nothing is refused":        {node: kept(both, both), want: metav1.Condition{Status: metav1.ConditionTrue, Reason: "ChangesPermitted"}},
		"another warning":           {node: kept(both, both), warnings: []nodeids.Warning{{Reason: nodeids.ReasonInvalidRange}}, want: metav1.Condition{Status: metav1.ConditionTrue, Reason: "ChangesPermitted"}},
		"a removal that is pending": {node: leaves, want: metav1.Condition{Status: metav1.ConditionTrue, Reason: "ChangesPermitted"}},
		"controllers are not added": {node: kept(both, both), warnings: []nodeids.Warning{frozen}, want: metav1.Condition{Status: metav1.ConditionFalse, Reason: nodeids.ReasonFrozen, Message: frozen.Message}},
		"a role is not taken":       {node: kept(both, observation.Roles{Broker: true}), want: metav1.Condition{Status: metav1.ConditionFalse, Reason: ReasonRolesNotChanged, Message: roles}},
		"controllers and roles are not changed": {
			node: kept(both, observation.Roles{Broker: true}), warnings: []nodeids.Warning{frozen},
			want: metav1.Condition{Status: metav1.ConditionFalse, Reason: nodeids.ReasonFrozen, Message: frozen.Message + "; " + roles},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pool := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
			v := &observation.Snapshot{IDs: nodeids.Plan{Warnings: tc.warnings}, Nodes: []observation.Node{tc.node}, Objects: observation.Objects{Pools: []*kafkav1beta2.KafkaNodePool{pool}}}
			tc.want.Type = lifecycle.Ready
			if diff := cmp.Diff(tc.want, changesPermitted(v)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
