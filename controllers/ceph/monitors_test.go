package ceph_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// TestKindAsksAnOlderMonitorAboutKeys asks a monitor of release 14 while monitors of 16 run beside it: these never answer about keys while
// one of 14 leads, which is the last that changes.
func TestKindAsksAnOlderMonitorAboutKeys(t *testing.T) {
	whichever, monA := cephclient.Daemon{}, cephclient.Daemon{Type: cephclient.TypeMon, ID: "a"}
	for name, tc := range map[string]struct {
		from, to string
		want     []cephclient.Daemon
	}{
		"14 to 16": {from: "14", to: "16", want: []cephclient.Daemon{whichever, monA, whichever}},
		"16 to 18": {from: "16", to: "18", want: []cephclient.Daemon{whichever}},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, tc.from)
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:" + tc.to })
			r.step()
			r.until("the upgrade", 15*time.Minute, r.settled(tc.to))
			if diff := cmp.Diff(tc.want, slices.Compact(r.keysFrom)); diff != "" {
				t.Errorf("asked about keys (-want +got):\n%s", diff)
			}
		})
	}
}
