package facts_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/labels"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/transitions"
)

// TestSharedHosts names the values that approve to move OSDs to the hosts that they serve on, and says which of them are moved.
func TestSharedHosts(t *testing.T) {
	approval := regexp.MustCompile(`crush-host=[^,\s]+|^\S+ moves to the host \S+`)
	earlier := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		hosts, nodes []string // of OSDs on claims; a node is empty without a ready pod
		directory    string   // the node of an OSD in a directory; empty for none
		approved     string
		copies       string // in the configuration
		pools        int    // copies of the pools; zero without a pool
		unread       bool   // Ceph is not read
		// approvedIn and started are the start of the container of osd.0 in which its host was approved, and that of the one that runs.
		approvedIn, started time.Time
		shown, moved        []string
	}{
		"each in its own host":            {hosts: []string{"a", "b", "c"}, nodes: []string{"a", "b", "c"}},
		"all on one node":                 {hosts: []string{"a", "a", "a"}, nodes: []string{"a", "a", "a"}},
		"all in one host":                 {hosts: []string{"a", "a", "a"}, nodes: []string{"a", "b", "c"}, shown: []string{"crush-host=uuid-1/b", "crush-host=uuid-2/c"}},
		"one is approved":                 {hosts: []string{"a", "a", "a"}, nodes: []string{"a", "b", "c"}, approved: "crush-host=uuid-1/b", shown: []string{"crush-host=uuid-1/b", "crush-host=uuid-2/c"}, moved: []string{"osd.1 to b"}},
		"one was moved":                   {hosts: []string{"a", "b", "a"}, nodes: []string{"a", "b", "c"}, approved: "crush-host=uuid-1/b", shown: []string{"crush-host=uuid-2/c"}},
		"another node is approved":        {hosts: []string{"a", "a", "a"}, nodes: []string{"a", "b", "c"}, approved: "crush-host=uuid-1/c", shown: []string{"crush-host=uuid-1/b", "crush-host=uuid-2/c"}},
		"another OSD had that number":     {hosts: []string{"a", "a", "a"}, nodes: []string{"a", "b", "c"}, approved: "crush-host=uuid-9/b", shown: []string{"crush-host=uuid-1/b", "crush-host=uuid-2/c"}},
		"its number is no approval":       {hosts: []string{"a", "a", "a"}, nodes: []string{"a", "b", "c"}, approved: "crush-host=osd.1/b", shown: []string{"crush-host=uuid-1/b", "crush-host=uuid-2/c"}},
		"a host was approved":             {hosts: []string{"b", "a"}, nodes: []string{"b", "a"}, approvedIn: earlier, started: earlier, shown: []string{"osd.0 moves to the host b"}},
		"its container does not run":      {hosts: []string{"b", "a"}, nodes: []string{"b", "a"}, approvedIn: earlier},
		"another container runs":          {hosts: []string{"b", "a"}, nodes: []string{"b", "a"}, approvedIn: earlier, started: earlier.Add(time.Minute)},
		"one that does not serve":         {hosts: []string{"a", "a", "a"}, nodes: []string{"a", "", "c"}, approved: "crush-host=uuid-1/", shown: []string{"crush-host=uuid-2/c"}},
		"the node of a directory":         {hosts: []string{"a", "a"}, nodes: []string{"a", "b"}, directory: "b"},
		"a drain moved two of one host":   {hosts: []string{"a", "a", "b", "c"}, nodes: []string{"b", "c", "b", "c"}},
		"a drain moved one to a new node": {hosts: []string{"a", "a", "b", "c"}, nodes: []string{"d", "c", "b", "c"}},
		"enough hosts for two copies":     {hosts: []string{"a", "a", "b", "b"}, nodes: []string{"c", "a", "b", "b"}, copies: "2"},
		"enough for the copies of pools":  {hosts: []string{"a", "a", "b", "b"}, nodes: []string{"c", "a", "b", "b"}, pools: 2},
		"too few for those of pools":      {hosts: []string{"a", "a", "b", "b"}, nodes: []string{"c", "a", "b", "b"}, copies: "2", pools: 3, shown: []string{"crush-host=uuid-0/c"}},
		"one host for two copies":         {hosts: []string{"a", "a"}, nodes: []string{"a", "b"}, pools: 2, shown: []string{"crush-host=uuid-1/b"}},
		"the copies are not read":         {hosts: []string{"a", "a", "a"}, nodes: []string{"a", "b", "c"}, unread: true},
		"too few for the default":         {hosts: []string{"a", "a", "b", "b"}, nodes: []string{"c", "a", "b", "b"}, shown: []string{"crush-host=uuid-0/c"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cephv1.Cluster{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{labels.Approve: tc.approved}}}
			if tc.copies != "" {
				c.Spec.CephConfig = map[string]cephv1.ConfigSection{"global": {"osd_pool_default_size": cephv1.ConfigValue(tc.copies)}}
			}
			s := &observation.Snapshot{Record: &record.Record{Daemons: map[string]record.Daemon{}, OSDs: map[string]string{}}, Pods: map[ceph.Daemon]*corev1.Pod{}}
			if s.Cluster = transitions.Known(cephupgrade.Cluster{OSDs: ceph.OSDMap{Copies: tc.pools}}, time.Now()); tc.unread {
				s.Cluster = transitions.Pending[cephupgrade.Cluster]()
			}
			put := func(d daemons.Daemon, node string) {
				s.Declared = append(s.Declared, d)
				s.Pods[d.Name] = &corev1.Pod{Spec: corev1.PodSpec{NodeName: node}}
				s.Pods[d.Name].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			}
			for i, host := range tc.hosts {
				osd := ceph.Daemon{Type: ceph.TypeOSD, ID: fmt.Sprint(i)}
				s.Record.Daemons[osd.String()] = record.Daemon{CrushHost: host}
				s.Record.OSDs["slot-"+osd.ID] = "uuid-" + osd.ID
				put(daemons.Daemon{Name: osd, Slot: "slot-" + osd.ID, Claims: &cephv1.VolumeClaims{}}, tc.nodes[i])
			}
			s.Record.Daemons["osd.0"] = record.Daemon{CrushHost: tc.hosts[0], BeforeMove: tc.approvedIn}
			if !tc.started.IsZero() {
				running := &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(tc.started)}
				s.Pods[ceph.Daemon{Type: ceph.TypeOSD, ID: "0"}].Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: running}}}
			}
			if tc.directory != "" {
				put(daemons.Daemon{Name: ceph.Daemon{Type: ceph.TypeOSD, ID: "9"}, Node: tc.directory}, tc.directory)
			}
			var shown, moved []string
			for _, text := range facts.SharedHosts(c, s) {
				shown = append(shown, approval.FindString(text))
			}
			for _, d := range s.Declared {
				if to, approved := facts.MoveTo(c, s, d); approved {
					moved = append(moved, d.Name.String()+" to "+to)
				}
			}
			if diff := cmp.Diff([][]string{tc.shown, tc.moved}, [][]string{shown, moved}); diff != "" {
				t.Errorf("shown, moved (-want +got):\n%s", diff)
			}
		})
	}
}
