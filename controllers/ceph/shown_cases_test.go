package ceph_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/test/cases"
)

// service is a metadata server or a gateway in a situation.
type service struct {
	Ranks      []string `yaml:"by_rank"`
	Ask        string
	Deployment string
	Versions   string
	MaxMDS     int  `yaml:"max_mds"`
	Standbys   int  `yaml:"other_fs_standbys"`
	Stale      bool `yaml:"stale_client_session"`
	HTTP       int  `yaml:"http"`
	Probe      string
}

// TestKindServiceCases runs metadata servers and gateways.
func TestKindServiceCases(t *testing.T) {
	better := map[string]cases.Better{
		"rgw misconfigured later": {Outcome: cases.Outcome{"ready": false}, Page: "0605", Reason: "a gateway that answers with errors is not ready, and is replaced like one that does not answer"},
	}
	cases.Run(t, cases.Ceph[service](t, "mds_and_rgw"), better, func(t *testing.T, row *cases.Row[service]) cases.Outcome {
		given := &row.Given
		switch {
		case given.Ranks != nil:
			return rankOf(t, given)
		case given.Deployment != "" || given.Probe != "":
			return rendered(t, given)
		case given.Stale:
			return restartsMDS(t)
		default:
			return upgradesFilesystems(t, given)
		}
	})
}

// rankOf ends the other metadata servers, and asks for the rank of the one that is left.
func rankOf(t *testing.T, given *service) cases.Outcome {
	t.Helper()
	c := simulated.New(cephtest.Releases()["16"], cephtest.Daemons()...)
	for _, d := range cephtest.Daemons() {
		if d.Type == cephclient.TypeMDS && !slices.Contains(given.Ranks, d.ID) {
			c.Stop(d)
		}
	}
	c.Advance(c.Now + 30_000)
	f, err := cephclient.Client{Runner: c}.Filesystems(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range f.Filesystems[0].MDS {
		if m.Name == given.Ask {
			return cases.Outcome{"rank": m.Rank}
		}
	}
	return cases.Outcome{}
}

// rendered launches a cluster, and reads the Deployment of a daemon.
func rendered(t *testing.T, given *service) cases.Outcome {
	t.Helper()
	c := cluster("ceph:16")
	c.Spec.Filesystems[0].Name = "my-super-fs"
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("16"))
	d, name := &appsv1.Deployment{}, given.Deployment
	if name == "" {
		name = "rook-ceph-rgw-store-a"
	}
	r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "rook-ceph", Name: name}, d))
	of, _ := render.DaemonOf(d.Labels)
	probe := d.Spec.Template.Spec.Containers[0].ReadinessProbe
	// A kubelet takes codes from 200 to 399 for success.
	ready := probe == nil || probe.HTTPGet == nil || given.HTTP >= 200 && given.HTTP < 400
	return cases.Outcome{"mds": of.ID, "ready": ready}
}

// restartsMDS restarts the only metadata server while a client that has ended has a session.
func restartsMDS(t *testing.T) cases.Outcome {
	t.Helper()
	const longest = 60
	a := cephclient.Daemon{Type: cephclient.TypeMDS, ID: "myfs-a"}
	c := simulated.New(cephtest.Releases()["16"], slices.DeleteFunc(cephtest.Daemons(), func(d cephclient.Daemon) bool { return d.ID == "myfs-b" })...)
	for _, err := range []error{
		c.Start(cephclient.Daemon{Type: cephclient.TypeMgr, ID: "a"}, cephtest.Releases()["16"], "another"),
		c.Start(a, cephtest.Releases()["16"], "another mds"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	active := func() bool {
		f, err := cephclient.Client{Runner: c}.Filesystems(t.Context())
		return err == nil && len(f.Filesystems[0].MDS) == 1 && f.Filesystems[0].MDS[0].State == cephclient.MDSActive
	}
	seconds := 0
	for ; !active() && seconds <= longest; seconds++ {
		c.Advance(c.Now + 1_000)
	}
	if reconnect := int(c.Settings.Reconnect / 1_000); seconds > reconnect && seconds <= longest {
		return cases.Outcome{"seconds": longest, "cause": "reconnect timeout 45 s"}
	}
	return cases.Outcome{"seconds": seconds}
}

// upgradesFilesystems upgrades a cluster with one filesystem, or with a second one that has a standby.
func upgradesFilesystems(t *testing.T, given *service) cases.Outcome {
	t.Helper()
	c := cluster("ceph:14")
	if given.MaxMDS > 0 {
		c.Spec.Filesystems[0].ActiveCount = int32(given.MaxMDS) //nolint:gosec // a small number of the file
	}
	if given.Standbys > 0 {
		c.Spec.Filesystems = append(c.Spec.Filesystems, cephv1.FilesystemSpec{Name: "other", ActiveCount: 1, StandbyCount: 1})
	}
	r := newRig(t, c)
	r.until("the launch", 5*time.Minute, r.settled("14"))
	out := cases.Outcome{"max_mds_during": given.MaxMDS, "saved_in_state": false, "ignored": false}
	r.world.Replacing = func(d cephclient.Daemon) {
		if d.Type != cephclient.TypeMDS {
			return
		}
		r.ceph.Do(func(c *simulated.Cluster) {
			out["max_mds_during"] = c.Filesystems[0].MaxMDS
			out["saved_in_state"] = c.Keys["detent/restore/myfs"] != ""
			other, known := c.Daemon(cephclient.Daemon{Type: cephclient.TypeMDS, ID: "other-b"})
			out["ignored"] = out["ignored"] == true || known && other.Running && strings.HasPrefix(d.ID, "myfs-")
		})
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:16" })
	r.step()
	r.until("the upgrade", 15*time.Minute, r.settled("16"))
	r.ceph.Do(func(c *simulated.Cluster) { out["restored"] = c.Filesystems[0].MaxMDS })
	out["error"] = r.versions()["mds"] != "16"
	return out
}

// report is what Ceph reports, or what an upgrade is about.
type report struct {
	Before, Now    string
	Checks         []string
	Image, Running release
	Labelled       []string `yaml:"label_on"`
}

// TestKindStatusCases compares what the status shows.
func TestKindStatusCases(t *testing.T) {
	better := map[string]cases.Better{
		"previous health remembered": {Outcome: cases.Outcome{"health": "HEALTH_WARN", "previous": ""}, Page: "0612", Reason: "the health from before decides nothing, and is not remembered"},
		"skip label found":           {Outcome: cases.Outcome{"skipped": []any{}}, Page: "0612", Reason: "no label leaves a daemon out"},
	}
	cases.Run(t, cases.Ceph[report](t, "status"), better, func(t *testing.T, row *cases.Row[report]) cases.Outcome {
		given := &row.Given
		if !given.Image.IsZero() {
			return showsVersions(t, given)
		}
		r := launched(t, "16")
		if given.Labelled != nil {
			return r.labelled(given)
		}
		codes := given.Checks
		if given.Now == cephclient.HealthWarn {
			codes = []string{"OTHER"}
		}
		r.ceph.Do(func(c *simulated.Cluster) {
			for _, code := range codes {
				c.Raise(cephclient.Check{Code: code, Severity: cephclient.HealthWarn})
			}
		})
		r.until("that the codes are shown", time.Minute, func() bool { return len(r.get().Status.Ceph.Checks) == len(codes) })
		return r.reported()
	})
}

// reported are the fields of the status about the health. One that the status does not have is empty.
func (r *rig) reported() cases.Outcome {
	r.t.Helper()
	text, err := json.Marshal(r.get().Status.Ceph)
	r.must(err)
	fields := map[string]any{"previousHealth": "", "lastChanged": ""}
	r.must(json.Unmarshal(text, &fields))
	checks, _ := fields["checks"].([]any)
	return cases.Outcome{"health": fields["health"], "previous": fields["previousHealth"], "changed_at": fields["lastChanged"], "details": len(checks)}
}

// showsVersions begins an upgrade, and reads what the status shows meanwhile.
func showsVersions(t *testing.T, given *report) cases.Outcome {
	t.Helper()
	r := newRig(t, cluster("ceph:running"))
	r.world.Images["ceph:running"], r.world.Images["ceph:wanted"] = given.Running.Version, given.Image.Version
	r.until("the launch", 5*time.Minute, func() bool { return r.entry().State == "Settled" && r.condition("Ready") == "True" })
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:wanted" })
	r.step()
	r.until("the first monitor", 5*time.Minute, func() bool { return strings.Contains(r.versions()["mon"], " ") })
	s := r.get().Status
	return cases.Outcome{"current": s.Version.Version, "target": s.Target}
}

// labelled upgrades a cluster in which Deployments have the label by which another operator leaves them out.
func (r *rig) labelled(given *report) cases.Outcome {
	r.t.Helper()
	ctx := context.Background()
	for _, id := range given.Labelled {
		d := &appsv1.Deployment{}
		r.must(r.client.Get(ctx, client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-mon-" + id}, d))
		d.Labels["ceph.rook.io/do-not-reconcile"] = "true"
		r.must(r.client.Update(ctx, d))
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.step()
	r.until("the monitors", 10*time.Minute, func() bool { return r.versions()["mgr"] == "18" })
	skipped, started := []any{}, r.started()
	for _, id := range given.Labelled {
		if !slices.Contains(started, "mon."+id) {
			skipped = append(skipped, id)
		}
	}
	return cases.Outcome{"skipped": skipped}
}
