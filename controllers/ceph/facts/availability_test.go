package facts_test

import (
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

// TestServesOfAMetadataServer does not count one that the monitors do not hear from, which they may show as active.
func TestServesOfAMetadataServer(t *testing.T) {
	for name, tc := range map[string]struct {
		shown ceph.MDS
		want  bool
	}{
		"active":                {ceph.MDS{State: ceph.MDSActive}, true},
		"active, and not heard": {ceph.MDS{State: ceph.MDSActive, Laggy: true}, false},
		"follows an active one": {ceph.MDS{State: ceph.MDSStandbyReplay}, true},
		"takes over":            {ceph.MDS{State: "up:reconnect"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tc.shown.Name = "myfs-a"
			m := cephupgrade.Cluster{Filesystems: ceph.Filesystems{Filesystems: []ceph.Filesystem{{Name: "myfs", MDS: []ceph.MDS{tc.shown}}}}}
			if got := facts.Serves(&m, ceph.Daemon{Type: ceph.TypeMDS, ID: "myfs-a"}); got != tc.want {
				t.Errorf("it serves: %t", got)
			}
		})
	}
}
