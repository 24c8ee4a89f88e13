package cephupgrade_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/machines"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
)

func TestProgressCountsTheDaemonsThatChange(t *testing.T) {
	outdated := func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { daemon(f, osd0).Outdated = true }
	for name, tc := range map[string]struct {
		facts cu.Facts
		want  machines.Count
	}{
		"all daemons":                          {with(old(osd0, osd1, rgw, mdsA, mdsB)), machines.Count{Done: 5, Total: 10}},
		"a daemon that starts":                 {with(old(mdsA), launched(mdsB)), machines.Count{Done: 8, Total: 10}},
		"a policy that is done":                {with(onlyMonitors), machines.Count{Done: 3, Total: 3}},
		"a policy that has begun":              {with(onlyMonitors, old(monB)), machines.Count{Done: 2, Total: 3}},
		"a policy, and a pod that differs too": {with(onlyMonitors, outdated), machines.Count{Done: 3, Total: 4}},
		"a cluster that does not answer":       {with(mapsSilent), machines.Count{Unknown: true}},
	} {
		t.Run(name, func(t *testing.T) {
			definition := cu.Definition()
			if diff := cmp.Diff(tc.want, definition.Progress.Of(&tc.facts, cu.Data{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
