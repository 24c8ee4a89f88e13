package cephupgrade_test

import (
	"strings"
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
)

// lostDeployment: the Deployment of an OSD that the operator launched is gone.
func lostDeployment(name ceph.Daemon, declared bool) change {
	return func(f *cu.Facts, c *cu.Cluster, m *cu.Memory) {
		gone(name)(f, c, m)
		f.Missing = []cu.Missing{{Name: name, Declared: declared}}
	}
}

// missing are OSDs without a Deployment: that of an OSD of the cluster is awaited.
func missing() []row {
	const s = cu.SelectingDaemon
	return []row{
		stays("missing: an old OSD", s, with(old(osd0), lostDeployment(osd0, true)), "daemon-selected"),
		stays("missing: an old OSD that is down and out", s, with(old(osd0), down(true), lostDeployment(osd0, true)), "daemon-selected"),
		stays("missing: an old OSD that the spec does not have", s, with(old(osd0), lostDeployment(osd0, false)), "daemon-selected"),
		goes("missing: an OSD on the release", s, with(unrequired, lostDeployment(osd0, true)), "osds-upgraded", cu.RequiringRelease),
		goes("missing: an OSD that was removed from Ceph", s, with(unrequired, lostDeployment(osd0, true), purged(osd0)), "osds-upgraded", cu.RequiringRelease),
		goes("missing: an old OSD of nobody", s, with(old(osd0), gone(osd0)), "osd-dead", cu.DeadOSD),
		goes("missing: the Hold ends", cu.DeadOSD, with(old(osd0), down(true), lostDeployment(osd0, true)), "revived", cu.Preflight),
	}
}

// TestDefinitionExplainsWhatItAwaits names the way out, or why nothing is known.
func TestDefinitionExplainsWhatItAwaits(t *testing.T) {
	for name, tc := range map[string]struct {
		state, event string
		facts        cu.Facts
		want         string
	}{
		"a Deployment": {cu.SelectingDaemon, "daemon-selected", with(old(osd0), down(true), lostDeployment(osd0, true)), "the Deployment of osd.0 is missing: it is created again"},
		"a spec":       {cu.SelectingDaemon, "daemon-selected", with(old(osd0), lostDeployment(osd0, false)), "osd.0 is not in the spec, and does not run 18.2.7: add its storage to spec.storage"},
		"a reduction":  {cu.SelectingDaemon, "upgraded", with(old(mdsA, mdsB), twoActive), "the filesystem myfs is to be reduced to one metadata server"},
		"the health":   {cu.RecordingHealth, "recorded", with(old(monB), unrecorded, healthSilent), errSilent.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			if got := observed(t, tc.state, tc.event, tc.facts, cu.Data{}); !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
