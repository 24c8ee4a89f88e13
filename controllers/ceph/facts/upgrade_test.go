package facts_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/facts"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	"github.com/detent-dev/detent/controllers/ceph/record"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/transitions"
)

// TestUpgradeEvictsManagersThatAreGone takes a session for one of a manager that is gone only if everything that its client says is that of
// one: a live client would lose its mount.
func TestUpgradeEvictsManagersThatAreGone(t *testing.T) {
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		host, entity string
		want         []int64
	}{
		"a manager that is gone":                        {"ceph-mgr-a-5d8f7c6b9-x2vqk", "a", []int64{7}},
		"a manager that is gone and says no id":         {"ceph-mgr-a-5d8f7c6b9-x2vqk", "", []int64{7}},
		"a manager that runs":                           {"ceph-mgr-a-5d8f7c6b9-bbbbb", "a", nil},
		"a node whose name begins like a manager's":     {"ceph-mgr-01", "admin", nil},
		"a node whose name is that of a manager":        {"ceph-mgr-a", "a", nil},
		"a node whose name continues that of a manager": {"ceph-mgr-a-01-berlin", "a", nil},
		"a pod of a client":                             {"ceph-mgr-a-5d8f7c6b9-x2vqk", "backup", nil},
		"a manager that was never recorded":             {"ceph-mgr-c-5d8f7c6b9-x2vqk", "c", nil},
		"a manager of another cluster":                  {"other-mgr-a-5d8f7c6b9-x2vqk", "a", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := &observation.Snapshot{
				Now: noon, Table: table, PodNames: map[string]bool{"ceph-mgr-a-5d8f7c6b9-bbbbb": true},
				Record:   &record.Record{Daemons: map[string]record.Daemon{"mgr.a": {}, "mgr.b": {}}},
				Sessions: transitions.Known([]ceph.Session{{ID: 7, Host: tc.host, Entity: tc.entity}}, noon),
			}
			c := &cephv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "ceph"}}
			f := facts.Upgrade(c, s, machines.ObserveOptions{Needs: []transitions.Need{cephupgrade.NeedOrphans}})
			got, _ := f.Orphans.Get()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("evicted (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUpgradeNamesOSDsWithoutADeployment names those that were launched, and whether the spec has them.
func TestUpgradeNamesOSDsWithoutADeployment(t *testing.T) {
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	osd := func(id string) ceph.Daemon { return ceph.Daemon{Type: ceph.TypeOSD, ID: id} }
	launched := record.Daemon{Reference: "ceph:16", Format: record.FormatDone}
	of := &appsv1.Deployment{}
	of.Spec.Template.Spec.Containers = []corev1.Container{{Image: "ceph:16"}}
	s := &observation.Snapshot{
		Table:       table,
		Declared:    []daemons.Daemon{{Name: osd("0")}, {Name: osd("1")}, {Name: osd("2")}},
		Record:      &record.Record{Daemons: map[string]record.Daemon{"osd.0": launched, "osd.1": launched, "osd.2": {}, "osd.3": launched, "mgr.a": launched}},
		Deployments: map[ceph.Daemon]*appsv1.Deployment{osd("0"): of},
	}
	want := []cephupgrade.Missing{{Name: osd("1"), Declared: true}, {Name: osd("3")}}
	if diff := cmp.Diff(want, facts.Upgrade(&cephv1.Cluster{}, s, machines.ObserveOptions{}).Missing); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
