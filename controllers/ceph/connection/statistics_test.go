package connection_test

import (
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

// TestAskWithoutStatistics: after a fail-over the new manager has no statistics for some seconds, and the monitors answer nevertheless.
func TestAskWithoutStatistics(t *testing.T) {
	for name, row := range map[string]struct {
		statistics string
		clean      bool
	}{
		"the manager has them": {statistics: `{"pg_ready": true, "pg_summary": {"num_pgs": 1, "num_pg_by_state": [{"name": "active+clean", "num": 1}]}}`, clean: true},
		"not yet":              {statistics: `{"pg_ready": false, "pg_summary": {"num_pgs": 0, "num_pg_by_state": []}}`},
		"no answer":            {},
	} {
		t.Run(name, func(t *testing.T) {
			runner := answers{
				"quorum_status": `{"quorum_names": ["a"], "quorum_leader_name": "a", "monmap": {"min_mon_release": 16, "mons": [{"name": "a"}]}}`,
				"mgr dump":      `{"active_name": "x", "available": true, "standbys": []}`,
				"osd dump":      `{"require_osd_release": "pacific", "flags_set": [], "osds": []}`,
				"fs dump":       `{"standbys": [], "filesystems": []}`,
				"mon metadata":  `[]`, "mgr metadata": `[]`, "osd metadata": `[]`, "mds metadata": `[]`,
			}
			if row.statistics != "" {
				runner["pg stat"] = row.statistics
			}
			p := connection.NewProtocol(func(connection.Endpoint) (ceph.Runner, func(), error) { return runner, func() {}, nil })
			c, _, err := p.Connect(connection.Endpoint{})
			if err != nil {
				t.Fatal(err)
			}
			a, err := p.Ask(t.Context(), c, connection.Question{Need: cephupgrade.NeedCluster})
			if err != nil {
				t.Fatal(err)
			}
			if clean, why := a.Cluster.PGs.Clean(); clean != row.clean || a.Cluster.Managers.Active != "x" {
				t.Errorf("clean %t (%s), active manager %q", clean, why, a.Cluster.Managers.Active)
			}
		})
	}
}
