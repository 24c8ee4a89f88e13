package recording

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

func finalized(level int16, at time.Time) transitions.Fact[kafkaclient.Features] {
	return transitions.Known(kafkaclient.Features{Finalized: map[string]int16{"metadata.version": level}}, at)
}

// started is a node that has run for a long time.
func started(level record.Level) observation.Node {
	return observation.Node{
		ID: 1, Pool: "p", PodName: "c-p-1", Wanted: true, RolesWanted: observation.Roles{Broker: true}, Roles: observation.Roles{Broker: true}, Recorded: true,
		Pod: observation.Pod{Exists: true, Ready: true, Running: true, StartedAt: noon.Add(-24 * time.Hour), Version: "4.1.1", SnapshotInterval: 10 * time.Minute},
		Record: record.Record{
			ID: 1, Pool: "p", Version: "4.1.1", Format: record.FormatDone, SnapshotInterval: 10 * time.Minute,
			Levels: map[string]record.Level{"metadata.version": level},
		},
	}
}

func TestRecordOfARunningNode(t *testing.T) {
	lowered := record.Level{Highest: 27, Finalized: 25, LoweredAt: noon}
	for name, tc := range map[string]struct {
		node  observation.Node
		after time.Duration
		level int16
		// change the node first.
		change func(*observation.Node)
		want   func(*record.Record)
	}{
		"nothing is new": {node: started(record.Level{Highest: 27, Finalized: 27}), level: 27},
		"a level was raised": {node: started(record.Level{Highest: 25, Finalized: 25}), level: 27, want: func(r *record.Record) {
			r.Levels["metadata.version"] = record.Level{Highest: 27, Finalized: 27}
		}},
		"a level was lowered": {node: started(record.Level{Highest: 27, Finalized: 27}), level: 25, want: func(r *record.Record) {
			r.Levels["metadata.version"] = lowered
		}},
		"a lowered level is kept until the snapshot is due": {node: started(lowered), level: 25, after: 10*time.Minute + 30*time.Second},
		"and forgotten after it": {node: started(lowered), level: 25, after: 10*time.Minute + 31*time.Second, want: func(r *record.Record) {
			r.Levels["metadata.version"] = record.Level{Highest: 25, Finalized: 25}
		}},
		"the interval counts from the start of the process": {
			node: started(lowered), level: 25, after: time.Hour,
			change: func(n *observation.Node) { n.Pod.StartedAt = noon.Add(55 * time.Minute) },
		},
		"the process has to load its log before the interval counts": {
			node: started(lowered), level: 25, after: time.Hour,
			change: func(n *observation.Node) { n.Pod.StartedAt = noon.Add(50*time.Minute - 45*time.Second) },
		},
		"a node that is not ready is not known to have a snapshot": {
			node: started(lowered), level: 25, after: time.Hour, change: func(n *observation.Node) { n.Pod.Ready = false },
		},
		"a process that takes no snapshots by time never has one": {
			node: started(lowered), level: 25, after: 1000 * time.Hour,
			change: func(n *observation.Node) { n.Pod.SnapshotInterval = 0 }, want: func(r *record.Record) { r.SnapshotInterval = 0 },
		},
		"another version was started": {
			node: started(record.Level{Highest: 27, Finalized: 27}), level: 27, change: func(n *observation.Node) { n.Pod.Version = "4.2.0" },
			want: func(r *record.Record) { r.Version = "4.2.0" },
		},
		"a version that is only annotated was not started": {
			node: started(record.Level{Highest: 27, Finalized: 27}), level: 27,
			change: func(n *observation.Node) { n.Pod.Version, n.Pod.Running, n.Pod.Ready = "4.2.0", false, false },
		},
		"a running pod without a version changes nothing": {
			node: started(record.Level{Highest: 27, Finalized: 27}), level: 27, change: func(n *observation.Node) { n.Pod.Version = "" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := tc.node
			if tc.change != nil {
				tc.change(&n)
			}
			v := &observation.Snapshot{Now: noon.Add(tc.after), Table: versionTable(t), Nodes: []observation.Node{n}, Features: finalized(tc.level, noon)}
			before := n.Record.Clone()
			want := n.Record.Clone()
			want.Roles = []kafkav1beta2.NodeRole{kafkav1beta2.RoleBroker}
			if tc.want != nil {
				tc.want(&want)
			}
			got := Next(&kafkav1beta2.Kafka{}, v, &v.Nodes[0], Adopt)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, v.Nodes[0].Record); diff != "" {
				t.Errorf("the record of the snapshot was changed (-want +got):\n%s", diff)
			}
		})
	}
}

// A node that joins takes over the others' log, and with it what that may hold.
func TestRecordOfANewNodeInheritsLevels(t *testing.T) {
	lowered := record.Level{Highest: 27, Finalized: 25, LoweredAt: noon}
	fresh := observation.Node{ID: 2, Pool: "p", PodName: "c-p-2", Wanted: true, Roles: observation.Roles{Broker: true}}
	v := &observation.Snapshot{Now: noon.Add(time.Minute), Table: versionTable(t), Nodes: []observation.Node{started(lowered), fresh}, Features: finalized(25, noon)}
	got := Next(&kafkav1beta2.Kafka{}, v, &v.Nodes[1], Adopt)
	if diff := cmp.Diff(map[string]record.Level{"metadata.version": lowered}, got.Levels); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
}

func TestFormatMetadata(t *testing.T) {
	for name, tc := range map[string]struct{ version, metadata, want string }{
		"none is asked for":               {version: "4.1.1", want: ""},
		"a short name":                    {version: "4.1.1", metadata: "4.0", want: "4.0-IV3"},
		"a full name":                     {version: "4.1.1", metadata: "4.1-IV0", want: "4.1-IV0"},
		"one that the version has not":    {version: "4.1.1", metadata: "4.2", want: ""},
		"one that nobody knows":           {version: "4.1.1", metadata: "5.11-IV2", want: ""},
		"no name":                         {version: "4.1.1", metadata: "newest", want: ""},
		"at the default of the table":     {metadata: "4.1", want: "4.1-IV1"},
		"at a version that nobody knows":  {version: "9.9.9", metadata: "4.1", want: ""},
		"below what the version supports": {version: "4.1.1", metadata: "3.0", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{}
			k.Spec.Kafka.Version, k.Spec.Kafka.MetadataVersion = tc.version, tc.metadata
			if got := FormatMetadata(k, &observation.Snapshot{Table: versionTable(t)}, &observation.Node{}); got != tc.want {
				t.Errorf("FormatMetadata = %q, want %q", got, tc.want)
			}
		})
	}
}

// The level with which storage is formatted is one that the binary knows which formats it: a version change that is desired with a higher
// level reaches the node later.
func TestFormatMetadataOfANodeThatStartsOnAnotherVersion(t *testing.T) {
	running := func(version string) observation.Node {
		return observation.Node{ID: 1, Wanted: true, Pod: observation.Pod{Exists: true, Version: version}}
	}
	for name, tc := range map[string]struct {
		others   []observation.Node
		node     observation.Node
		metadata string
		want     string
	}{
		"its entry has the old version":                  {node: observation.Node{Entry: observation.Entry{Exists: true, Version: "4.0.2"}}, metadata: "4.1", want: ""},
		"its entry has the old version, which knows it":  {node: observation.Node{Entry: observation.Entry{Exists: true, Version: "4.0.2"}}, metadata: "4.0", want: "4.0-IV3"},
		"its entry has the new version, beside an old":   {others: []observation.Node{running("4.0.2")}, node: observation.Node{Entry: observation.Entry{Exists: true, Version: "4.1.1"}}, metadata: "4.1", want: "4.1-IV1"},
		"its entry has the new version, its pod the old": {node: observation.Node{Pod: observation.Pod{Exists: true, Version: "4.0.2"}, Entry: observation.Entry{Exists: true, Version: "4.1.1"}}, metadata: "4.1", want: "4.1-IV1"},
		"only its pod is left, on the old version":       {node: observation.Node{Pod: observation.Pod{Exists: true, Version: "4.0.2"}}, metadata: "4.1", want: ""},
		"only its record is left, of the old version":    {node: observation.Node{Recorded: true, Record: record.Record{Version: "4.0.2"}}, metadata: "4.1", want: ""},
		"a new node beside one on the old version":       {others: []observation.Node{running("4.1.1"), running("4.0.2")}, metadata: "4.1", want: ""},
		"a new node beside one on the new version":       {others: []observation.Node{running("4.1.1")}, metadata: "4.1", want: "4.1-IV1"},
		"its entry has a version that the table has not": {node: observation.Node{Entry: observation.Entry{Exists: true, Version: "4.0.99"}}, metadata: "4.0", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{}
			k.Spec.Kafka.Version, k.Spec.Kafka.MetadataVersion = "4.1.1", tc.metadata
			v := &observation.Snapshot{Table: versionTable(t), Nodes: tc.others}
			if got := FormatMetadata(k, v, &tc.node); got != tc.want {
				t.Errorf("FormatMetadata = %q, want %q", got, tc.want)
			}
		})
	}
}

// A newer binary that formats storage while the level is held back writes the level of the cluster: otherwise the older one, to which the
// cluster may return, would not start with it.
func TestFormatMetadataOfAClusterThatRan(t *testing.T) {
	for name, tc := range map[string]struct {
		starts, pinned, status string
		features               transitions.Fact[kafkaclient.Features]
		want                   string
	}{
		"the level is held back":                          {starts: "4.1.1", features: finalized(21, noon), want: "3.9-IV0"},
		"the level is pinned, and not raised yet":         {starts: "4.1.1", pinned: "4.1", features: finalized(25, noon), want: "4.0-IV3"},
		"the level is pinned, and not lowered yet":        {starts: "4.1.1", pinned: "4.0", features: finalized(27, noon), want: "4.0-IV3"},
		"Kafka does not answer":                           {starts: "4.1.1", status: "4.0-IV3", features: transitions.Pending[kafkaclient.Features](), want: "4.0-IV3"},
		"the status is behind":                            {starts: "4.1.1", status: "4.0-IV3", features: finalized(27, noon), want: "4.1-IV1"},
		"the version does not support it":                 {starts: "4.0.2", features: finalized(27, noon), want: ""},
		"the version does not support it, but the pinned": {starts: "4.0.2", pinned: "4.0", features: finalized(27, noon), want: "4.0-IV3"},
		"the pinned level is below what Kafka supports":   {starts: "4.1.1", pinned: "3.0", features: finalized(25, noon), want: "4.0-IV3"},
		"a level without a name":                          {starts: "4.1.1", pinned: "4.1", features: finalized(99, noon), want: "4.1-IV1"},
		"an invalid status":                               {starts: "4.1.1", pinned: "4.1", status: "none", want: "4.1-IV1"},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{}
			k.Spec.Kafka.Version, k.Spec.Kafka.MetadataVersion, k.Status.KafkaMetadataVersion = "4.1.1", tc.pinned, tc.status
			v := &observation.Snapshot{Table: versionTable(t), Features: tc.features}
			if got := FormatMetadata(k, v, &observation.Node{Entry: observation.Entry{Exists: true, Version: tc.starts}}); got != tc.want {
				t.Errorf("FormatMetadata = %q, want %q", got, tc.want)
			}
		})
	}
}

// A volume that is added later is formatted by the binary that runs then, which may be older than the one that formatted the first.
func TestRecordKeepsALevelOnlyWhileItMayBeUsed(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*observation.Node)
		want   string
	}{
		"formatting is permitted":      {change: func(n *observation.Node) { n.Record.Format = record.FormatAllowed }, want: "4.0-IV3"},
		"also of a node that leaves":   {change: func(n *observation.Node) { n.Record.Format, n.Wanted = record.FormatAllowed, false }, want: "4.0-IV3"},
		"it is not permitted any more": {change: func(*observation.Node) {}},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kafkav1beta2.Kafka{}
			k.Spec.Kafka.Version, k.Spec.Kafka.MetadataVersion = "4.0.2", "4.0"
			n := started(record.Level{Highest: 25, Finalized: 25})
			n.Pod.Version, n.Record.Version, n.Record.Metadata = "4.0.2", "4.0.2", "4.1-IV1"
			tc.change(&n)
			v := &observation.Snapshot{Now: noon, Table: versionTable(t), Nodes: []observation.Node{n}}
			if got := Next(k, v, &v.Nodes[0], Adopt).Metadata; got != tc.want {
				t.Errorf("level %q, want %q", got, tc.want)
			}
		})
	}
}

// A record permits formatting only if nothing that is left of the node names a persistent volume.
func TestFirstRecordOfWhatIsLeft(t *testing.T) {
	terminating := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-1-c-p-1", DeletionTimestamp: &metav1.Time{Time: noon}}}
	entry := observation.Entry{Exists: true, Version: "4.1.1", Volumes: []int32{0}}
	for name, c := range map[string]struct {
		node    observation.Node
		claims  []*corev1.PersistentVolumeClaim
		want    record.Format
		volumes []int32
	}{
		"nothing": {want: record.FormatAllowed},
		"a claim that terminates, of an earlier node": {claims: []*corev1.PersistentVolumeClaim{terminating}, want: record.FormatAllowed},
		"an entry":                              {node: observation.Node{Entry: entry}, want: record.FormatDone, volumes: []int32{0}},
		"an entry, and a claim that terminates": {node: observation.Node{Entry: entry}, claims: []*corev1.PersistentVolumeClaim{terminating}, want: record.FormatDone, volumes: []int32{0, 1}},
		"an entry with ephemeral storage":       {node: observation.Node{Entry: observation.Entry{Exists: true}}, want: record.FormatAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			c.node.ID, c.node.PodName = 1, "c-p-1"
			v := &observation.Snapshot{Now: noon, Nodes: []observation.Node{c.node}, Table: &versions.Table{}}
			v.Objects.Claims = c.claims
			got := First(&kafkav1beta2.Kafka{}, v, &v.Nodes[0])
			if got.Format != c.want || !slices.Equal(got.Volumes, c.volumes) {
				t.Errorf("format %s with the volumes %v, want %s with %v", got.Format, got.Volumes, c.want, c.volumes)
			}
		})
	}
}
