package ceph_test

import (
	"testing"
	"time"

	"github.com/detent-dev/detent/clients/ceph/versions"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
)

// TestKindTakesNoVersionFromThePodBefore sets an image by hand while the operator runs. The pod from before still runs for two seconds, and
// what it reports is not the version of the image.
func TestKindTakesNoVersionFromThePodBefore(t *testing.T) {
	older := versions.Version{Major: 18, Minor: 2, Patch: 4, Commit: "older"}
	for name, tc := range map[string]struct {
		image, warning string
		version        versions.Version
		by             string
	}{
		"of a newer release": {
			image: "ceph:mirrored", version: older,
			warning: "the image ceph:mirrored was set in the Deployment of mon.c, which has the version 18.2.4: set spec.cephVersion.image to an image of 18.2.4 or later, and the daemon follows it",
		},
		"that cannot be pulled": {
			image: "ceph:typo", by: "ceph:typo", version: images()["ceph:16"],
			warning: "the image ceph:typo was set in the Deployment of mon.c, which has not reported its version: correct the image there, or set spec.cephVersion.image to another image of 16.2.15 than ceph:16" +
				": one of the same digest replaces this daemon alone, and one of another digest replaces all daemons",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.world.Images["ceph:mirrored"], r.world.Images["ceph:other"] = older, r.world.Images["ceph:16"]
			r.world.Lag = 2 * time.Second
			r.image("rook-ceph-mon-c", tc.image)
			r.until("the warning", 2*time.Minute, func() bool { return r.warning("ImageSetByHand") == tc.warning })
			one := r.record().Daemons["mon.c"]
			if one.ByHand != tc.by || !one.Version.Same(tc.version) {
				t.Errorf("recorded: got %s with the version %s, want %s with %s", one.ByHand, one.Version, tc.by, tc.version)
			}
			if tc.by == "" {
				return
			}
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:other" })
			r.until("the correction", 15*time.Minute, func() bool { return r.entry().State == cephupgrade.Settled && r.warning("ImageSetByHand") == "" })
		})
	}
}
