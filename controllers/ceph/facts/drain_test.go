package facts_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/render"
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
		// unready are OSDs whose pods are not ready during a pause, in which Ceph is not asked.
		unready []string
		// unread means that Ceph does not answer.
		unread bool
		want   away
	}{
		"all serve": {},
		"one that is on no node counts for its first host": {nodes: map[string]string{"0": ""}, down: []string{"0"}, want: away{"node-1", []string{"0", "1", "2"}}},
		"one in a directory counts for its host":           {nodes: map[string]string{"2": ""}, down: []string{"2"}, want: away{"node-1", []string{"0", "1", "2"}}},
		"those that moved to other hosts are not away":     {nodes: map[string]string{"0": "node-3", "1": "node-4"}, down: []string{"2"}, want: away{"node-1", []string{"2"}}},
		"one that moved counts for the host that it is on": {nodes: map[string]string{"0": "node-2"}, down: []string{"0"}, want: away{"node-2", []string{"0", "3"}}},
		"of two hosts":                                        {down: []string{"0", "3"}},
		"one that is not ready during a pause":                {unready: []string{"2"}, want: away{"node-1", []string{"0", "1", "2"}}},
		"Ceph does not answer":                                {unready: []string{"2"}, unread: true},
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
			if s.Cluster = transitions.Known(m, time.Now()); tc.unread {
				s.Cluster = transitions.Unreadable[cephupgrade.Cluster](errors.New("timed out"))
			} else if tc.unready != nil {
				s.Cluster = transitions.Fact[cephupgrade.Cluster]{}
			}
			for _, id := range tc.unready {
				s.Pods[osd(id)].Status.Conditions = nil
			}
			host, ids := facts.Away(s, ceph.TypeOSD)
			if diff := cmp.Diff(tc.want, away{host, ids}); diff != "" {
				t.Errorf("away (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.new, facts.NeverServed(s)); diff != "" {
				t.Errorf("never served (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAwayOfMonitors has two monitors on node-1, and the others each on a node of its own.
func TestAwayOfMonitors(t *testing.T) {
	for name, tc := range map[string]struct {
		launched []string
		down     []string
		noPod    []string
		// monitors of the monmap that the record does not have.
		foreign int
		want    []string
	}{
		"all serve":                         {launched: []string{"a", "b", "c", "d", "e"}},
		"one of two of a host":              {launched: []string{"a", "b", "c", "d", "e"}, down: []string{"a"}, want: []string{"a", "b"}},
		"one without a pod":                 {launched: []string{"a", "b", "c", "d", "e"}, noPod: []string{"b"}, want: []string{"a", "b"}},
		"of two hosts":                      {launched: []string{"a", "b", "c", "d", "e"}, down: []string{"a", "c"}},
		"the others are half of them":       {launched: []string{"a", "b", "c", "d"}, down: []string{"a"}},
		"the others are no majority":        {launched: []string{"a", "b", "c"}, down: []string{"a"}},
		"the others are half of the monmap": {launched: []string{"a", "b", "c", "d", "e"}, down: []string{"a"}, foreign: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &observation.Snapshot{Record: &record.Record{Daemons: map[string]record.Daemon{"mon.f": {Node: "node-1"}}}, Pods: map[ceph.Daemon]*corev1.Pod{}}
			var m cephupgrade.Cluster
			m.Quorum.Monitors = make([]string, tc.foreign)
			for _, id := range tc.launched {
				node := "node-" + id
				if id == "a" || id == "b" {
					node = "node-1"
				}
				s.Record.Daemons["mon."+id] = record.Daemon{Reference: "ceph:18", Node: node}
				if m.Quorum.Monitors = append(m.Quorum.Monitors, id); !slices.Contains(tc.down, id) {
					m.Quorum.Members = append(m.Quorum.Members, id)
				}
				pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: node}}
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
				if !slices.Contains(tc.noPod, id) {
					s.Pods[ceph.Daemon{Type: ceph.TypeMon, ID: id}] = pod
				}
			}
			s.Cluster = transitions.Known(m, time.Now())
			_, got := facts.Away(s, ceph.TypeMon)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("away (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEvictions counts the daemons that were launched and are to run, whether they have a pod or not.
func TestEvictions(t *testing.T) {
	s := &observation.Snapshot{
		Declared: []daemons.Daemon{{Name: ceph.Daemon{Type: ceph.TypeMon, ID: "d"}}, {Name: ceph.Daemon{Type: ceph.TypeMDS, ID: "fs-a"}}, {Name: ceph.Daemon{Type: ceph.TypeMDS, ID: "fs-b"}}},
		Record: &record.Record{Daemons: map[string]record.Daemon{
			"mon.a": {Reference: "ceph:18"}, "mon.b": {Reference: "ceph:18"}, "mon.c": {}, "mon.d": {Reference: "ceph:18", Format: record.FormatAllowed},
			"mon.e": {Reference: "ceph:18"},
			"osd.0": {Reference: "ceph:18", Format: record.FormatDone}, "osd.1": {Reference: "ceph:18", Format: record.FormatDone},
			"osd.2":    {Reference: "ceph:18", Format: record.FormatAllowed},
			"mds.fs-a": {Reference: "ceph:18"}, "mds.fs-b": {}, "mds.fs-c": {Reference: "ceph:18"}, "mds.fs-d": {Reference: "ceph:18"},
		}},
		Deployments: map[ceph.Daemon]*appsv1.Deployment{{Type: ceph.TypeMDS, ID: "fs-d"}: {}},
	}
	for name, tc := range map[string]struct {
		of   ceph.Type
		away []string
		mons []string // of Ceph, if it is known
		gone string   // is not in the record
		want render.Evictions
	}{
		"a monitor that was removed from Ceph":        {of: ceph.TypeMon, mons: []string{"a", "d"}, want: render.Evictions{Count: 2}},
		"monitors that the spec declares no more":     {of: ceph.TypeMon, want: render.Evictions{Count: 4}},
		"a monitor that never joined":                 {of: ceph.TypeMon, mons: []string{"a", "b", "e"}, want: render.Evictions{Count: 3, Free: []string{"d"}}},
		"the third monitor never joined":              {of: ceph.TypeMon, mons: []string{"a", "b"}, want: render.Evictions{Count: 2, Free: []string{"d"}, None: true}},
		"the second monitor never joined":             {of: ceph.TypeMon, mons: []string{"a"}, want: render.Evictions{Count: 1, Free: []string{"d"}}},
		"the third monitor may not have joined":       {of: ceph.TypeMon, gone: "mon.e", want: render.Evictions{Count: 3, None: true}},
		"a monitor that has joined, and never served": {of: ceph.TypeMon, mons: []string{"a", "b", "d"}, want: render.Evictions{Count: 3}},
		"an OSD that never served":                    {of: ceph.TypeOSD, want: render.Evictions{Count: 2, Free: []string{"2"}}},
		"OSDs whose host is away":                     {of: ceph.TypeOSD, away: []string{"0"}, want: render.Evictions{Count: 1, Free: []string{"0", "2"}, None: true}},
		"metadata servers that are declared, or left": {of: ceph.TypeMDS, want: render.Evictions{Count: 2}},
		"none": {of: ceph.TypeRGW},
	} {
		t.Run(name, func(t *testing.T) {
			s.Cluster = transitions.Pending[cephupgrade.Cluster]()
			if tc.mons != nil {
				s.Cluster = transitions.Known(cephupgrade.Cluster{Quorum: ceph.Quorum{Monitors: tc.mons, Members: tc.mons}}, time.Now())
			}
			s := *s
			s.Record = s.Record.Clone()
			delete(s.Record.Daemons, tc.gone)
			if diff := cmp.Diff(tc.want, facts.Evictions(&s, tc.of, tc.away), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("evictions (-want +got):\n%s", diff)
			}
		})
	}
}
