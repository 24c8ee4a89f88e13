package ceph_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
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

// TestKindKeepsTheRestOfAClusterWithoutAHost says why another monitor has no host, while everything else goes on.
func TestKindKeepsTheRestOfAClusterWithoutAHost(t *testing.T) {
	const want = "placing mon.d: 3 hosts can have a monitor, and each has one: add hosts, or set spec.mon.allowMultiplePerNode to true"
	r := launched(t, "16")
	r.edit(func(c *cephv1.Cluster) { c.Spec.Mon.Count = 5 })
	r.until("the reason", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), want) })
	r.deleteKeys()
	r.until("the keys", 2*time.Minute, func() bool { return len(r.secret()) > 0 })
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the upgrade", 15*time.Minute, func() bool { return r.entry().State == cephupgrade.Settled && r.versions()["mds"] == "18" })
	if text := r.message(lifecycle.Ready); !strings.Contains(text, want) {
		t.Errorf("shown after the upgrade: %q", text)
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.Mon.AllowMultiplePerNode = true })
	r.until("the monitors", 10*time.Minute, func() bool { return r.settled("18")() && r.get().Status.Ceph.Components[0].Total == 5 })
}
