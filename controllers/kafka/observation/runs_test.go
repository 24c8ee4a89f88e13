package observation

import (
	"testing"
	"time"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/machines/roll"
	"github.com/detent-dev/detent/transitions"
)

// A node counts for the disruption budget if its pod serves, or would serve were it there: a new one does not before its pod is created.
func TestNodesOfTheBudget(t *testing.T) {
	ran, fresh := record.Record{Version: "4.1.1"}, record.Record{}
	refused := Pod{Trouble: transitions.Problemf(roll.PodRefused, "cannot be created: exceeded quota")}
	broker, controller := Entry{Exists: true, roles: Roles{Broker: true}}, Entry{Exists: true, roles: Roles{Controller: true}}
	listed := Snapshot{
		SeenBrokers: transitions.Known(kafkaclient.Brokers{Brokers: []kafkaclient.Broker{{ID: 1}}}, time.Now()),
		SeenQuorum:  transitions.Known(kafkaclient.Quorum{Voters: []kafkaclient.QuorumReplica{{ID: 2, LogEndOffset: 7}, {ID: 3, LogEndOffset: -1}}}, time.Now()),
	}
	for name, tc := range map[string]struct {
		node  Node
		kafka Snapshot
		want  bool
	}{
		"it has a pod":                                {node: Node{Pod: Pod{Exists: true}}, want: true},
		"only its id is committed":                    {node: Node{Wanted: true}},
		"it is recorded and not started yet":          {node: Node{Wanted: true, Recorded: true, Record: fresh}},
		"its first pod is being created":              {node: Node{Wanted: true, Recorded: true, Record: fresh, Entry: Entry{Exists: true}}, want: true},
		"its first pod is refused":                    {node: Node{Wanted: true, Recorded: true, Record: fresh, Entry: Entry{Exists: true}, Pod: refused}},
		"it ran, and its next pod is refused":         {node: Node{Wanted: true, Recorded: true, Record: ran, Entry: Entry{Exists: true}, Pod: refused}, want: true},
		"no record says that the broker ran":          {node: Node{ID: 1, Wanted: true, Recorded: true, Record: fresh, Entry: broker, Pod: refused}, kafka: listed, want: true},
		"no record says that the voter ran":           {node: Node{ID: 2, Wanted: true, Recorded: true, Record: fresh, Entry: controller, Pod: refused}, kafka: listed, want: true},
		"a voter without a log":                       {node: Node{ID: 3, Wanted: true, Recorded: true, Record: fresh, Entry: controller, Pod: refused}, kafka: listed},
		"a refused broker that Kafka does not list":   {node: Node{ID: 4, Wanted: true, Recorded: true, Record: fresh, Entry: broker, Pod: refused}, kafka: listed},
		"it ran, and its entry is lost":               {node: Node{Wanted: true, Recorded: true, Record: ran}, want: true},
		"it ran, leaves, and its next pod is refused": {node: Node{Recorded: true, Record: ran, Entry: Entry{Exists: true}, Pod: refused}, want: true},
		"it was stopped for its removal":              {node: Node{Recorded: true, Record: ran}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.kafka.counts(&tc.node); got != tc.want {
				t.Errorf("counts: %t, want %t", got, tc.want)
			}
		})
	}
}
