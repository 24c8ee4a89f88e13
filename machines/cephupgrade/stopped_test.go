package cephupgrade_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/transitions"
)

// TestDefinitionShowsWhyADaemonMayNotBeStopped shows Ceph's reason without the numbers that change with each answer, and the way out.
func TestDefinitionShowsWhyADaemonMayNotBeStopped(t *testing.T) {
	const (
		osd = ". Bring back the OSDs that are down; a pool whose size equals its min_size needs one more copy: ceph osd pool set <pool> size <copies>"
		mds = ". Add a standby to the filesystem, or bring back the one that is down"
	)
	says := func(p ceph.Permission, reason string) change {
		return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
			f.Permission = transitions.Known(ceph.OKToStop{Permission: p, Reason: reason}, f.Health.At())
		}
	}
	for name, tc := range map[string]struct {
		daemon ceph.Daemon
		answer change
		want   string
	}{
		"permitted":                  {osd0, says(ceph.Permitted, ""), ""},
		"an OSD of 14":               {osd0, says(ceph.Denied, "56 PGs are already too degraded, would become too degraded or might become unavailable"), "Ceph answers for osd.0: Denied: PGs are already too degraded, would become too degraded or might become unavailable" + osd},
		"an OSD of 18":               {osd0, says(ceph.Denied, "unsafe to stop osd(s) at this time (57 PGs are or would become offline)"), "Ceph answers for osd.0: Denied: unsafe to stop osd(s) at this time (PGs are or would become offline)" + osd},
		"a monitor":                  {monB, says(ceph.Denied, "not enough monitors would be available (c) after stopping mons [a,b]"), "Ceph answers for mon.b: Denied: not enough monitors would be available (c) after stopping mons [a,b]. Bring the other monitors into the quorum"},
		"a metadata server":          {mdsB, says(ceph.Denied, "insufficient standby MDS daemons to stop active gids 4170 and/or standby gids 4213"), "Ceph answers for mds.myfs-b: Denied: insufficient standby MDS daemons to stop active gids and/or standby gids" + mds},
		"without a reason":           {osd0, says(ceph.Denied, ""), "Ceph answers for osd.0: Denied" + osd},
		"not known yet":              {osd0, says(ceph.Undecided, "no pg stats yet"), "Ceph answers for osd.0: Undecided: no pg stats yet"},
		"a long reason":              {osd0, says(ceph.Denied, strings.Repeat("x", 200)), "Ceph answers for osd.0: Denied: " + strings.Repeat("x", 160) + "..." + osd},
		"a name with a number stays": {osd0, says(ceph.Denied, "osd.12 of rack 7 is down"), "Ceph answers for osd.0: Denied: osd.12 of rack is down" + osd},
	} {
		t.Run(name, func(t *testing.T) {
			got := observed(t, cu.AwaitingOkToStop, "ok-to-stop", with(old(tc.daemon), tc.answer), replaces(tc.daemon))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
