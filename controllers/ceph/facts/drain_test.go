package facts_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/transitions"
)

// TestAway has osd.0 and osd.1 on volumes that first served on node-1, osd.2 in a directory of node-1, and osd.3 on a volume of node-2.
func TestAway(t *testing.T) {
	osd := func(id string) ceph.Daemon { return ceph.Daemon{Type: ceph.TypeOSD, ID: id} }
	type away struct {
		Host string
		IDs  []string
	}
	for name, tc := range map[string]struct {
		nodes map[string]string // of pods; empty for a pod on none
		down  []string
		new   []string
		// unsaid are OSDs of which the record does not say whether they served.
		unsaid []string
		want   away
	}{
		"all serve": {},
		"one that is on no node counts for its first host": {nodes: map[string]string{"0": ""}, down: []string{"0"}, want: away{"node-1", []string{"0", "1", "2"}}},
		"one in a directory counts for its host":           {nodes: map[string]string{"2": ""}, down: []string{"2"}, want: away{"node-1", []string{"0", "1", "2"}}},
		"those that moved to other hosts are not away":     {nodes: map[string]string{"0": "node-3", "1": "node-4"}, down: []string{"2"}, want: away{"node-1", []string{"2"}}},
		"one that moved counts for the host that it is on": {nodes: map[string]string{"0": "node-2"}, down: []string{"0"}, want: away{"node-2", []string{"0", "3"}}},
		"of two hosts":                                        {down: []string{"0", "3"}},
		"one that never served does not count":                {nodes: map[string]string{"3": ""}, down: []string{"2", "3"}, new: []string{"3"}, want: away{"node-1", []string{"0", "1", "2"}}},
		"one that may have served counts":                     {down: []string{"3"}, unsaid: []string{"3"}, want: away{"node-2", []string{"3"}}},
		"only one that never served does not serve":           {down: []string{"3"}, new: []string{"3"}},
		"one that never served is not one of a host's either": {down: []string{"2"}, new: []string{"1"}, want: away{"node-1", []string{"0", "2"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &observation.Snapshot{
				Record: &record.Record{Daemons: map[string]record.Daemon{
					"osd.0": {CrushHost: "node-1"}, "osd.1": {CrushHost: "node-1"}, "osd.2": {}, "osd.3": {CrushHost: "node-2"},
				}},
				Declared: []daemons.Daemon{{Name: osd("2"), Node: "node-1", Path: "/osd"}},
				Pods:     map[ceph.Daemon]*corev1.Pod{},
			}
			up := map[string]bool{}
			for id, node := range map[string]string{"0": "node-1", "1": "node-1", "2": "node-1", "3": "node-2"} {
				pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: node}}
				if moved, given := tc.nodes[id]; given {
					pod.Spec.NodeName = moved
				}
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
				s.Pods[osd(id)], up[id] = pod, true
				one := s.Record.Daemons["osd."+id]
				one.Reference, one.Format = "ceph:18", record.FormatDone
				s.Record.Daemons["osd."+id] = one
			}
			for _, id := range tc.down {
				up[id] = false
			}
			for _, id := range tc.new {
				one := s.Record.Daemons["osd."+id]
				one.Format, one.CrushHost = record.FormatAllowed, ""
				s.Record.Daemons["osd."+id] = one
			}
			for _, id := range tc.unsaid {
				one := s.Record.Daemons["osd."+id]
				one.Format = ""
				s.Record.Daemons["osd."+id] = one
			}
			var m cephupgrade.Cluster
			for number, id := range []string{"0", "1", "2", "3"} {
				m.OSDs.OSDs = append(m.OSDs.OSDs, ceph.OSD{Number: number, Up: up[id]})
			}
			s.Cluster = transitions.Known(m, time.Now())
			host, ids := facts.Away(s)
			if diff := cmp.Diff(tc.want, away{host, ids}); diff != "" {
				t.Errorf("away (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.new, facts.NeverServed(s)); diff != "" {
				t.Errorf("never served (-want +got):\n%s", diff)
			}
		})
	}
}
