package status_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/transitions"
)

// reporting is a snapshot in which Ceph is healthy and daemons report versions.
func reporting(t *testing.T, r *record.Record, daemons ...ceph.Metadata) *observation.Snapshot {
	t.Helper()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return &observation.Snapshot{
		Now: noon, Table: table, Cluster: transitions.Known(cephupgrade.Cluster{Metadata: daemons}, noon),
		Health: transitions.Known(ceph.Health{Status: ceph.HealthOK}, noon), Memory: transitions.Known(cephupgrade.Memory{}, noon), Record: r,
	}
}

// TestProjectShowsVersions shows what two monitors report, and whether that is what the spec asks for.
func TestProjectShowsVersions(t *testing.T) {
	v18 := versions.Version{Major: 18, Minor: 2, Patch: 7}
	type want struct {
		Version  string
		Versions []string
		Done     int32
		Settled  string
	}
	for name, tc := range map[string]struct {
		wanted versions.Version
		a, b   ceph.Metadata
		want   want
	}{
		"a release":                     {v18, ceph.Metadata{Version: v18}, ceph.Metadata{Version: v18}, want{"18.2.7", []string{"18.2.7"}, 2, "True"}},
		"one has not reported itself":   {v18, ceph.Metadata{Version: v18}, ceph.Metadata{}, want{"18.2.7", []string{"18.2.7"}, 1, "True"}},
		"a development build":           {versions.Version{}, ceph.Metadata{Unversioned: true}, ceph.Metadata{Unversioned: true}, want{"development", []string{"development"}, 2, "True"}},
		"half way to a development one": {versions.Version{}, ceph.Metadata{Unversioned: true}, ceph.Metadata{Version: v18}, want{"18.2.7", []string{"18.2.7", "development"}, 1, "False"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := ceph.Daemon{Type: ceph.TypeMon, ID: "a"}, ceph.Daemon{Type: ceph.TypeMon, ID: "b"}
			tc.a.Daemon, tc.b.Daemon = a, b
			one := record.Daemon{Image: "ceph:wanted", Reference: "ceph:wanted@sha256:a", Version: tc.wanted}
			s := reporting(t, &record.Record{
				Daemons: map[string]record.Daemon{"mon.a": one, "mon.b": one},
				Images:  map[string]record.Image{"ceph:wanted": {Reference: "ceph:wanted@sha256:a", Version: tc.wanted}},
			}, tc.a, tc.b)
			c := &cephv1.Cluster{Spec: cephv1.ClusterSpec{CephVersion: &cephv1.CephVersion{Image: "ceph:wanted", AllowUnsupported: true}}}
			conditions := status.Project(c, s, lifecycle.ProjectRequest{})
			settled := meta.FindStatusCondition(conditions, status.VersionSettled)
			got := want{c.Status.Version.Version, c.Status.Ceph.Components[0].Versions, c.Status.Ceph.Components[0].Done, string(settled.Status)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestProjectSettlesWithAPolicy compares each type of daemons with what the policy says of it.
func TestProjectSettlesWithAPolicy(t *testing.T) {
	v16, v18 := versions.Version{Major: 16, Minor: 2, Patch: 15}, versions.Version{Major: 18, Minor: 2, Patch: 7}
	for name, tc := range map[string]struct {
		components []cephv1.Component
		mon, mgr   versions.Version
		state      string
		want       string
	}{
		"every type of the cluster":                    {[]cephv1.Component{"mon", "mgr", "osd"}, v18, v18, cephupgrade.Settled, "True"},
		"a manager is behind the policy":               {[]cephv1.Component{"mon", "mgr", "osd"}, v18, v16, cephupgrade.Settled, "False"},
		"the managers are not in the policy":           {[]cephv1.Component{"mon"}, v18, v16, cephupgrade.AwaitingAdmin, "True"},
		"a manager is ahead of the spec":               {[]cephv1.Component{"mon"}, v18, v18, cephupgrade.Settled, "False"},
		"the policy was extended, and has to be begun": {[]cephv1.Component{"mon", "mgr"}, v18, v16, cephupgrade.AwaitingAdmin, "False"},
		"the upgrade is under way":                     {[]cephv1.Component{"mon"}, v18, v16, cephupgrade.AwaitingHealth, "False"},
	} {
		t.Run(name, func(t *testing.T) {
			mon, mgr := ceph.Daemon{Type: ceph.TypeMon, ID: "a"}, ceph.Daemon{Type: ceph.TypeMgr, ID: "a"}
			s := reporting(t, &record.Record{
				Daemons: map[string]record.Daemon{"mon.a": {Reference: "ceph:a", Version: tc.mon}, "mgr.a": {Reference: "ceph:a", Version: tc.mgr}},
				Images:  map[string]record.Image{"ceph:16": {Reference: "ceph:16", Version: v16}, "ceph:18": {Reference: "ceph:18", Version: v18}},
			}, ceph.Metadata{Daemon: mon, Version: tc.mon}, ceph.Metadata{Daemon: mgr, Version: tc.mgr})
			c := &cephv1.Cluster{Spec: cephv1.ClusterSpec{
				CephVersion:   &cephv1.CephVersion{Image: "ceph:16"},
				UpgradePolicy: &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18"}, Components: tc.components},
			}}
			c.Status.Lifecycles = []lifecyclev1.Lifecycle{{Name: observation.LifecycleUpgrade, State: tc.state}}
			settled := meta.FindStatusCondition(status.Project(c, s, lifecycle.ProjectRequest{}), status.VersionSettled)
			if diff := cmp.Diff(tc.want, string(settled.Status)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", settled.Message, diff)
			}
		})
	}
}

// TestProjectKeepsWhatIsDone shows no progress toward a version that is not known yet.
func TestProjectKeepsWhatIsDone(t *testing.T) {
	v16, v18 := versions.Version{Major: 16, Minor: 2, Patch: 15}, versions.Version{Major: 18, Minor: 2, Patch: 7}
	a, b := ceph.Daemon{Type: ceph.TypeMon, ID: "a"}, ceph.Daemon{Type: ceph.TypeMon, ID: "b"}
	s := reporting(t, &record.Record{
		Daemons: map[string]record.Daemon{"mon.a": {Reference: "ceph:18", Version: v18}, "mon.b": {Reference: "ceph:16", Version: v16}},
		Images:  map[string]record.Image{"ceph:18": {Reference: "ceph:18", Version: v18}},
	}, ceph.Metadata{Daemon: a, Version: v18}, ceph.Metadata{Daemon: b, Version: v16})
	c := &cephv1.Cluster{Spec: cephv1.ClusterSpec{CephVersion: &cephv1.CephVersion{Image: "ceph:18"}}}
	for _, image := range []string{"ceph:18", "ceph:unknown"} {
		c.Spec.CephVersion.Image = image
		status.Project(c, s, lifecycle.ProjectRequest{})
		one := c.Status.Ceph.Components[0]
		if diff := cmp.Diff([]int32{1, 2}, []int32{one.Done, one.Total}); diff != "" {
			t.Errorf("%s: done of total (-want +got)\n%s", image, diff)
		}
	}
}
