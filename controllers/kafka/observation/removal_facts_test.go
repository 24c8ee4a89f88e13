package observation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// While a drain works, the brokers that may get its replicas are asked whether they are cordoned. Without a drain only those that leave are.
func TestSnapshotCordonQuestions(t *testing.T) {
	node := func(id int32, r record.Record) Node {
		r.Roles = []kafkav1beta2.NodeRole{kafkav1beta2.RoleBroker}
		return Node{ID: id, Recorded: true, Record: r, Wanted: !r.Leaving, RolesWanted: Roles{Broker: !r.Leaving}, Pod: Pod{Exists: true}, RolesRunning: Roles{Broker: true}}
	}
	stays, leaves, controller := node(1, record.Record{}), node(3, record.Record{Leaving: true}), node(2, record.Record{})
	controller.RolesRunning, controller.Record.Roles = Roles{Controller: true}, []kafkav1beta2.NodeRole{kafkav1beta2.RoleController}
	for name, tc := range map[string]struct {
		nodes  []Node
		drains bool
		want   []int32
	}{
		"no drain is requested":  {nodes: []Node{stays, controller, leaves}, want: []int32{3}},
		"a drain is requested":   {nodes: []Node{stays, controller, leaves}, drains: true, want: []int32{1, 3}},
		"a drain without a need": {nodes: []Node{stays, controller}, drains: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := &Snapshot{Nodes: tc.nodes, drains: tc.drains}
			var got []int32
			v.removalQuestions(lifecycle.ObserveRequest{Needs: []transitions.Need{kraftscaledown.NeedCordons}}, func(_ transitions.Need, q kafkaclient.Question) {
				got = append(got, q.Broker)
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("brokers that are asked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSnapshotCordons(t *testing.T) {
	node := func(id int32, r record.Record) Node {
		r.Roles = []kafkav1beta2.NodeRole{kafkav1beta2.RoleBroker}
		return Node{ID: id, Recorded: true, Record: r, Wanted: !r.Leaving, RolesWanted: Roles{Broker: !r.Leaving}}
	}
	v := &Snapshot{Nodes: []Node{node(0, record.Record{}), node(1, record.Record{Draining: 2}), node(2, record.Record{Leaving: true})}}
	for name, tc := range map[string]struct {
		value string
		want  map[int32]bool
	}{
		"no directory":    {value: "", want: map[int32]bool{0: false, 1: false, 2: false}},
		"one directory":   {value: "/data-0", want: map[int32]bool{0: true, 1: false, 2: false}},
		"every directory": {value: kafkaclient.CordonedAll, want: map[int32]bool{0: true, 1: true, 2: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, v.cordons(map[int32]string{0: tc.value, 1: tc.value, 2: tc.value})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A check of a blocked removal is repeated for days: it reads no moves of partitions unless there is a drain.
func TestSnapshotRemovalQuestions(t *testing.T) {
	node := func(r record.Record) Node {
		r.Roles = []kafkav1beta2.NodeRole{kafkav1beta2.RoleBroker}
		return Node{ID: 3, Recorded: true, Record: r, Pod: Pod{Exists: true}, RolesRunning: Roles{Broker: true}}
	}
	moves, replicas := kafkaclient.Question{About: kafkaclient.AboutMoves}, kafkaclient.Question{About: kafkaclient.AboutReplicas, Broker: 3}
	for name, tc := range map[string]struct {
		node   Node
		drains bool
		want   []kafkaclient.Question
	}{
		"a broker leaves":                         {node: node(record.Record{Leaving: true})},
		"a drain is requested":                    {node: node(record.Record{Leaving: true}), drains: true, want: []kafkaclient.Question{replicas, moves}},
		"a drain was begun and is not requested":  {node: node(record.Record{Leaving: true, Draining: 2}), want: []kafkaclient.Question{moves}},
		"a drain is requested and no broker goes": {node: node(record.Record{}), drains: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := &Snapshot{Nodes: []Node{tc.node}, drains: tc.drains}
			var got []kafkaclient.Question
			v.removalQuestions(lifecycle.ObserveRequest{Needs: []transitions.Need{kraftscaledown.NeedMoves}}, func(_ transitions.Need, q kafkaclient.Question) {
				got = append(got, q)
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("questions (-want +got):\n%s", diff)
			}
		})
	}
}
