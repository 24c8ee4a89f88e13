package facts

import (
	"slices"
	"testing"
	"time"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/transitions"
)

// A pod says how often its process snapshots, 0 included; only without a pod the record does.
func TestObserveVersionSnapshotInterval(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*observation.Node)
		want   time.Duration
	}{
		"the pod's own":                     {func(n *observation.Node) { n.Record.SnapshotInterval = time.Hour }, 10 * time.Minute},
		"a pod that never snapshots":        {func(n *observation.Node) { n.Pod.SnapshotInterval = 0 }, 0},
		"the record's, without a pod":       {func(n *observation.Node) { n.Pod = observation.Pod{} }, 10 * time.Minute},
		"a record that never did, no pod":   {func(n *observation.Node) { n.Pod, n.Record.SnapshotInterval = observation.Pod{}, 0 }, 0},
		"a record that never did, with one": {func(n *observation.Node) { n.Record.SnapshotInterval = 0 }, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			n := runningNode(record.Level{Highest: 27, Finalized: 25, LoweredAt: noon})
			tc.change(&n)
			d, remembered := disk(&n, n.Record.Levels)
			if !remembered || d.Interval != tc.want {
				t.Errorf("interval %s (remembered: %v), want %s", d.Interval, remembered, tc.want)
			}
		})
	}
}

func TestRollFactsEphemeral(t *testing.T) {
	kept, lost := runningNode(record.Level{}), runningNode(record.Level{})
	lost.ID, lost.PodName, lost.MetadataStorage = 2, "c-p-2", observation.StorageEphemeral
	v := &observation.Snapshot{Now: noon, Table: versionTable(t), Nodes: []observation.Node{kept, lost}}
	f := Roll(&kafkav1beta2.Kafka{}, v, func(*observation.Node) bool { return false })
	if f.Node(1).Ephemeral || !f.Node(2).Ephemeral {
		t.Errorf("nodes %+v", f.Nodes)
	}
}

// runningNode is a node that has run for a long time.
func runningNode(level record.Level) observation.Node {
	return observation.Node{
		ID: 1, Pool: "p", PodName: "c-p-1", Wanted: true, RolesWanted: observation.Roles{Broker: true}, Roles: observation.Roles{Broker: true}, Recorded: true,
		Pod:    observation.Pod{Exists: true, Ready: true, Running: true, StartedAt: noon.Add(-24 * time.Hour), Version: "4.1.1", SnapshotInterval: 10 * time.Minute},
		Record: record.Record{ID: 1, Pool: "p", Version: "4.1.1", Format: record.FormatDone, SnapshotInterval: 10 * time.Minute, Levels: map[string]record.Level{"metadata.version": level}},
	}
}

// What is observed counts although the record of a controller cannot be written: its log holds the level that was just lowered.
func TestVersionFactsOfAControllerThatIsNotRecorded(t *testing.T) {
	same, higher := record.Level{Highest: 27, Finalized: 27}, record.Level{Highest: 27, Finalized: 25, LoweredAt: noon.Add(-time.Hour)}
	for name, tc := range map[string]struct {
		level     record.Level
		finalized int16
		change    func(*observation.Node)
		lowered   time.Time // zero if the log holds no higher level
		want      []string
	}{
		"its record is as observed":            {level: same, finalized: 27},
		"its record has the lowered level":     {level: higher, finalized: 25, lowered: noon.Add(-time.Hour)},
		"the level was raised":                 {level: record.Level{Highest: 25, Finalized: 25}, finalized: 27, want: []string{"c-p-1"}},
		"the level was lowered":                {level: same, finalized: 25, lowered: noon, want: []string{"c-p-1"}},
		"a part of its record is not readable": {level: same, finalized: 27, change: func(n *observation.Node) { n.RecordBroken = true }, want: []string{"c-p-1"}},
		"it is a broker, and a level was raised": {
			level: record.Level{Highest: 25, Finalized: 25}, finalized: 27, change: func(n *observation.Node) {
				n.Roles, n.RolesRunning = observation.Roles{Broker: true}, observation.Roles{Broker: true}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := runningNode(tc.level)
			n.PodName, n.RolesRunning = "c-p-1", observation.Roles{Controller: true}
			if tc.change != nil {
				tc.change(&n)
			}
			features := kafkaclient.Features{Finalized: map[string]int16{versions.FeatureMetadata: tc.finalized}}
			v := &observation.Snapshot{Now: noon, Table: versionTable(t), Nodes: []observation.Node{n}, Features: transitions.Known(features, noon)}
			got := Version(&kafkav1beta2.Kafka{}, v, machines.ObserveOptions{})
			if !slices.Equal(got.Unrecorded, tc.want) {
				t.Errorf("not recorded: %v, want %v", got.Unrecorded, tc.want)
			}
			var lowered time.Time
			for _, d := range got.Disks {
				lowered = d.LoweredAt[versions.FeatureMetadata]
			}
			if !lowered.Equal(tc.lowered) {
				t.Errorf("lowered at %v, want %v", lowered, tc.lowered)
			}
		})
	}
}
