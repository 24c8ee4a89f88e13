package status_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	"github.com/detent-dev/detent/controllers/ceph/status"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
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

// TestProjectDoesNotSettleOnAnOlderPolicy: a policy that has every daemon and is older than the version keeps that from any effect.
func TestProjectDoesNotSettleOnAnOlderPolicy(t *testing.T) {
	v16, v18 := versions.Version{Major: 16, Minor: 2, Patch: 15}, versions.Version{Major: 18, Minor: 2, Patch: 7}
	const ignored = "spec.upgradePolicy asks for 16.2.15 pacific for every daemon, so that spec.cephVersion, of 18.2.7 reef, has no effect. To change to 18.2.7, remove spec.upgradePolicy"
	type want struct{ Status, Reason, Message string }
	for name, tc := range map[string]struct {
		wanted, policy string
		components     []cephv1.Component
		runs           versions.Version
		want           want
	}{
		"older, of every daemon":           {"ceph:18", "ceph:16", []cephv1.Component{"mon", "mgr", "osd"}, v16, want{"False", "VersionWithoutEffect", ignored}},
		"older, of every daemon, not yet":  {"ceph:18", "ceph:16", []cephv1.Component{"mon", "mgr", "osd"}, v18, want{"False", "Changing", "a daemon of the type mon runs 18.2.7"}},
		"newer, of every daemon":           {"ceph:16", "ceph:18", []cephv1.Component{"mon", "mgr", "osd"}, v18, want{"True", "Settled", ""}},
		"of the version, and thus ignored": {"ceph:16", "ceph:16", []cephv1.Component{"mon", "mgr", "osd"}, v16, want{"True", "Settled", ""}},
		"older, without the managers":      {"ceph:18", "ceph:16", []cephv1.Component{"mon"}, v16, want{"False", "Changing", "a daemon of the type mgr runs 16.2.15"}},
		"of a cluster without a version":   {"", "ceph:16", []cephv1.Component{"mon", "mgr", "osd"}, v16, want{"True", "Settled", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			mon, mgr := ceph.Daemon{Type: ceph.TypeMon, ID: "a"}, ceph.Daemon{Type: ceph.TypeMgr, ID: "a"}
			one := record.Daemon{Reference: "ceph:a", Version: tc.runs}
			s := reporting(t, &record.Record{
				Daemons: map[string]record.Daemon{"mon.a": one, "mgr.a": one},
				Images:  map[string]record.Image{"ceph:16": {Reference: "ceph:16", Version: v16}, "ceph:18": {Reference: "ceph:18", Version: v18}},
			}, ceph.Metadata{Daemon: mon, Version: tc.runs}, ceph.Metadata{Daemon: mgr, Version: tc.runs})
			c := &cephv1.Cluster{Spec: cephv1.ClusterSpec{UpgradePolicy: &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: tc.policy}, Components: tc.components}}}
			if tc.wanted != "" {
				c.Spec.CephVersion = &cephv1.CephVersion{Image: tc.wanted}
			}
			got := meta.FindStatusCondition(status.Project(c, s, lifecycle.ProjectRequest{}), status.VersionSettled)
			if diff := cmp.Diff(tc.want, want{string(got.Status), got.Reason, got.Message}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestProjectKeepsWarnings: while Ceph cannot be read, the Warnings that follow from what it says stay as they are.
func TestProjectKeepsWarnings(t *testing.T) {
	for _, reason := range []transitions.Reason{decision.VersionWithoutEffect, decision.ReleaseNotRequired} {
		t.Run(string(reason), func(t *testing.T) {
			s := reporting(t, &record.Record{Daemons: map[string]record.Daemon{"mon.a": {Reference: "ceph:a"}}})
			s.Cluster = transitions.Pending[cephupgrade.Cluster]()
			want := metav1.Condition{Type: lifecycle.Warning, Status: metav1.ConditionTrue, Reason: string(reason), Message: "as it was"}
			c := &cephv1.Cluster{}
			c.Status.Conditions = []metav1.Condition{want}
			var got []metav1.Condition
			for _, condition := range status.Project(c, s, lifecycle.ProjectRequest{}) {
				if condition.Type == lifecycle.Warning {
					got = append(got, condition)
				}
			}
			if diff := cmp.Diff([]metav1.Condition{want}, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
