package status_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// TestProjectNamesWhatWasNotLaunched: while a launch has run the monitors alone, the version is not settled.
func TestProjectNamesWhatWasNotLaunched(t *testing.T) {
	v18 := versions.Version{Major: 18, Minor: 2, Patch: 7}
	mon, mgr := ceph.Daemon{Type: ceph.TypeMon, ID: "a"}, ceph.Daemon{Type: ceph.TypeMgr, ID: "a"}
	launched := record.Daemon{Image: "ceph:18", Reference: "ceph:18@sha256:a", Version: v18}
	type want struct{ Status, Reason, Message string }
	for name, tc := range map[string]struct {
		manager record.Daemon
		osd     string
		want    want
	}{
		"every daemon":                         {launched, "0", want{"True", "Settled", ""}},
		"a manager was not launched":           {record.Daemon{}, "0", want{"False", "NotLaunched", "not launched yet: mgr.a"}},
		"an OSD has no number":                 {launched, "", want{"False", "NotLaunched", "not launched yet: the OSD of set-0"}},
		"an OSD has a number and no image yet": {launched, "1", want{"False", "NotLaunched", "not launched yet: osd.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := reporting(t, &record.Record{
				Daemons: map[string]record.Daemon{"mon.a": launched, "mgr.a": tc.manager, "osd.0": launched, "osd.1": {Slot: "set-0"}},
				Images:  map[string]record.Image{"ceph:18": {Reference: "ceph:18@sha256:a", Version: v18}},
			}, ceph.Metadata{Daemon: mon, Version: v18})
			s.Declared = []daemons.Daemon{{Name: mon}, {Name: mgr}, {Name: ceph.Daemon{Type: ceph.TypeOSD, ID: tc.osd}, Slot: "set-0"}}
			c := &cephv1.Cluster{Spec: cephv1.ClusterSpec{CephVersion: &cephv1.CephVersion{Image: "ceph:18"}}}
			got := meta.FindStatusCondition(status.Project(c, s, lifecycle.ProjectRequest{}), status.VersionSettled)
			if diff := cmp.Diff(tc.want, want{string(got.Status), got.Reason, got.Message}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestProjectTarget shows the version that the spec asks for, and keeps it while another image is being detected.
func TestProjectTarget(t *testing.T) {
	policy := func(image string, components ...cephv1.Component) *cephv1.UpgradePolicy {
		return &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: image}, Components: components}
	}
	for name, tc := range map[string]struct {
		image  string
		policy *cephv1.UpgradePolicy
		want   string
	}{
		"a version":                           {"ceph:18", nil, "18.2.7"},
		"an image that is being detected":     {"ceph:unknown", nil, "16.2.15"},
		"an image that cannot be pulled":      {"ceph:absent", nil, "16.2.15"},
		"no version":                          {"", nil, ""},
		"a policy":                            {"ceph:16", policy("ceph:18", "mon"), "18.2.7"},
		"a policy to an older version":        {"ceph:19", policy("ceph:18", "mon"), "18.2.7"},
		"a policy without components":         {"ceph:19", policy("ceph:18"), "19.2.3"},
		"a policy that is being detected":     {"ceph:18", policy("ceph:unknown", "mon"), "16.2.15"},
		"a policy, and the spec names no one": {"", policy("ceph:18", "mon"), "18.2.7"},
	} {
		t.Run(name, func(t *testing.T) {
			s := reporting(t, &record.Record{
				Daemons: map[string]record.Daemon{"mon.a": {Reference: "ceph:16"}},
				Images: map[string]record.Image{
					"ceph:16": {Reference: "ceph:16", Version: versions.Version{Major: 16, Minor: 2, Patch: 15}},
					"ceph:18": {Reference: "ceph:18", Version: versions.Version{Major: 18, Minor: 2, Patch: 7}},
					"ceph:19": {Reference: "ceph:19", Version: versions.Version{Major: 19, Minor: 2, Patch: 3}},
				},
			})
			c := &cephv1.Cluster{Spec: cephv1.ClusterSpec{UpgradePolicy: tc.policy}, Status: cephv1.ClusterStatus{Target: "16.2.15"}}
			if tc.image != "" {
				c.Spec.CephVersion = &cephv1.CephVersion{Image: tc.image}
			}
			status.Project(c, s, lifecycle.ProjectRequest{})
			if diff := cmp.Diff(tc.want, c.Status.Target); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
