package order_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/machines/cephupgrade/health"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// upgrade follows the order on a simulated cluster, with the health gate before each daemon. It reads the cluster through the client
// only, and repairs nothing.
type upgrade struct {
	t       *testing.T
	cluster *simulated.Cluster
	client  ceph.Client
	table   *versions.Table
	target  versions.Version
	release *versions.Release
	// replaced are the daemons in the order in which they were replaced, and paused what the upgrade waited for.
	replaced []string
	paused   map[string]bool
	// at is called before each reconcile.
	at func(u *upgrade)
}

func newUpgrade(t *testing.T, from, to string) *upgrade {
	t.Helper()
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	c := simulated.New(cephtest.Releases()[from], append(cephtest.Daemons(), ceph.Daemon{Type: ceph.TypeRGW, ID: "store.a"})...)
	u := &upgrade{t: t, cluster: c, client: ceph.Client{Runner: c}, table: table, target: cephtest.Releases()[to], paused: map[string]bool{}, at: func(*upgrade) {}}
	u.release, _ = table.Release(u.target.Major)
	return u
}

// observed returns the daemons as the client shows them.
func (u *upgrade) observed(ctx context.Context) (out []order.Daemon, err error) {
	quorum, err := u.client.Quorum(ctx)
	if err != nil {
		return nil, err
	}
	managers, err := u.client.Managers(ctx)
	if err != nil {
		return nil, err
	}
	osds, err := u.client.OSDMap(ctx)
	if err != nil {
		return nil, err
	}
	filesystems, err := u.client.Filesystems(ctx)
	if err != nil {
		return nil, err
	}
	for i := range u.cluster.Daemons {
		d := &u.cluster.Daemons[i]
		one := order.Daemon{Name: d.Name, Filesystem: d.Filesystem, Outdated: !d.Version.Same(u.target), Stopped: d.Name.Type == ceph.TypeMDS && !d.Running}
		switch d.Name.Type {
		case ceph.TypeMon:
			one.Serving, one.Leading = slices.Contains(quorum.Members, d.Name.ID), quorum.Leader == d.Name.ID
		case ceph.TypeMgr:
			one.Leading = managers.Active == d.Name.ID && managers.Available
			one.Serving = one.Leading || slices.Contains(managers.Standbys, d.Name.ID)
		case ceph.TypeOSD:
			one.Serving = slices.ContainsFunc(osds.OSDs, func(o ceph.OSD) bool { return o.Daemon() == d.Name && o.Up })
		case ceph.TypeMDS:
			all := append(slices.Clone(filesystems.Standbys), filesystems.Filesystems[0].MDS...)
			at := slices.IndexFunc(all, func(m ceph.MDS) bool { return m.Name == d.Name.ID })
			one.Serving = at >= 0 && (all[at].State == ceph.MDSActive || all[at].State == ceph.MDSStandby)
			one.Leading = at >= 0 && all[at].Rank >= 0
		case ceph.TypeRGW:
			one.Serving = d.Running
		}
		out = append(out, one)
	}
	return out, nil
}

// pass makes one step or waits, and reports whether the upgrade is complete.
func (u *upgrade) pass(ctx context.Context) bool {
	u.at(u)
	daemons, err := u.observed(ctx)
	if err != nil {
		u.paused[err.Error()] = true
		return false
	}
	step, ok := order.Next(daemons, u.release.MDSStandbys)
	if (!ok || step.Daemon.Type == ceph.TypeRGW) && u.cluster.RequireRelease < u.target.Major {
		if err := u.client.RequireOSDRelease(ctx, u.release.Name); err != nil {
			u.t.Fatal(err)
		}
		u.replaced = append(u.replaced, "require "+u.release.Name)
		return false
	}
	component := step.Daemon.Type
	if !ok {
		component = ceph.TypeMDS
	}
	gate := health.Gate{Table: u.table, Major: u.target.Major, Component: component}
	raised, err := u.client.Health(ctx)
	if err != nil {
		u.paused[err.Error()] = true
		return false
	}
	stopped := slices.ContainsFunc(daemons, func(d order.Daemon) bool { return d.Stopped })
	gate.Replacing = stopped // standbys that the upgrade stopped degrade the filesystem
	if v := gate.Verdict(raised); v.Observed != "" {
		u.paused[v.Observed] = true
		return false
	}
	if !ok {
		return true
	}
	u.do(ctx, step)
	return false
}

func (u *upgrade) do(ctx context.Context, step order.Step) {
	d, _ := u.cluster.Daemon(step.Daemon)
	if d.Running && step.Kind == order.Replace && !step.Outage {
		answer, err := u.client.OKToStop(ctx, step.Daemon, []ceph.Daemon{step.Daemon})
		if err != nil || answer.Permission == ceph.Denied || answer.Permission == ceph.Undecided {
			u.paused[string(answer.Permission)] = true
			return
		}
	}
	switch step.Kind {
	case order.Wait:
		u.paused["repair of "+step.Daemon.String()] = true
	case order.Failover:
		u.must(u.client.FailMgr(ctx, step.Daemon.ID))
	case order.Reduce:
		u.must(u.client.SetMaxMDS(ctx, step.Filesystem, 1))
	case order.Stop:
		u.cluster.Stop(step.Daemon)
	case order.Replace:
		u.replaced = append(u.replaced, step.Daemon.String())
		u.cluster.Stop(step.Daemon)
		u.must(u.cluster.Start(step.Daemon, u.target, fmt.Sprintf("%s-%d", step.Daemon, u.cluster.Now)))
		u.await(ctx, step.Daemon)
	}
}

func (u *upgrade) must(err error) {
	u.t.Helper()
	if err != nil {
		u.t.Fatal(err)
	}
}

// await waits until the daemon has its role, for at most two minutes.
func (u *upgrade) await(ctx context.Context, name ceph.Daemon) {
	for range 240 {
		u.cluster.Advance(u.cluster.Now + 500)
		if slices.ContainsFunc(u.cluster.Checks(), func(c ceph.Check) bool { return c.Code == "PG_AVAILABILITY" }) {
			u.t.Fatalf("placement groups became unavailable while %s was replaced", name)
		}
		daemons, err := u.observed(ctx)
		if err == nil && slices.ContainsFunc(daemons, func(d order.Daemon) bool { return d.Name == name && d.Serving }) {
			return
		}
	}
	u.t.Fatalf("%s does not serve", name)
}

// run makes passes until the upgrade is complete, for at most ten minutes.
func (u *upgrade) run() {
	u.t.Helper()
	for range 1_200 {
		if u.pass(u.t.Context()) {
			return
		}
		u.cluster.Advance(u.cluster.Now + 500)
	}
	u.t.Fatalf("it does not end; it waits for %v", u.paused)
}

func TestNextUpgradesACluster(t *testing.T) {
	order16 := []string{"mon.b", "mon.c", "mon.a", "mgr.b", "mgr.a", "osd.0", "osd.1", "osd.2", "require pacific", "rgw.store.a", "mds.myfs-a", "mds.myfs-b"}
	order18 := []string{"mon.b", "mon.c", "mon.a", "mgr.b", "mgr.a", "osd.0", "osd.1", "osd.2", "require reef", "rgw.store.a", "mds.myfs-b", "mds.myfs-a"}
	for name, c := range map[string]struct {
		from, to string
		want     []string
	}{"14 to 16": {"14", "16", order16}, "16 to 18": {"16", "18", order18}} {
		t.Run(name, func(t *testing.T) {
			u := newUpgrade(t, c.from, c.to)
			u.run()
			if diff := cmp.Diff(c.want, u.replaced); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			t.Logf("%d s, paused for %v", u.cluster.Now/1000, u.paused)
		})
	}
}

func TestNextPausesAnUpgrade(t *testing.T) {
	osd1 := ceph.Daemon{Type: ceph.TypeOSD, ID: "1"}
	cases := map[string]struct {
		begins, ends func(u *upgrade)
		want         string
	}{
		"an error from outside": {
			func(u *upgrade) { u.cluster.Raise(ceph.Check{Code: "TEST_BOOM", Severity: ceph.HealthErr}) }, func(u *upgrade) { u.cluster.Clear("TEST_BOOM") },
			"health codes TEST_BOOM; to let a code pass in this upgrade, annotate detent.dev/ignore-health: CODE=<attempt id>",
		},
		"another OSD ends": {
			func(u *upgrade) { u.cluster.Stop(osd1) },
			func(u *upgrade) {
				d, _ := u.cluster.Daemon(osd1)
				u.must(u.cluster.Start(osd1, d.Version, "repaired")) // on its current version
			},
			"health codes OSD_DOWN, PG_DEGRADED",
		},
		"the cluster cannot be reached": {func(u *upgrade) { u.cluster.Unreachable = true }, func(u *upgrade) { u.cluster.Unreachable = false }, "reading the quorum: the ceph command ended with exit code 1: timed out"},
		"the answers are garbage": {
			func(u *upgrade) {
				u.cluster.Faults = []simulated.Fault{{Command: "health", Result: ceph.Result{Stdout: []byte("{")}}}
			}, func(u *upgrade) { u.cluster.Faults = nil },
			"reading the health: the answer cannot be read: unexpected end of JSON input",
		},
		"a daemon must not be stopped": {
			func(u *upgrade) {
				u.cluster.Faults = []simulated.Fault{{Command: "osd ok-to-stop", Result: ceph.Result{Code: 16, Stderr: []byte("Error EBUSY: no\n")}}}
			}, func(u *upgrade) { u.cluster.Faults = nil },
			string(ceph.Denied),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := newUpgrade(t, "16", "18")
			began, before := int64(0), 0
			u.at = func(u *upgrade) {
				osd0, _ := u.cluster.Daemon(ceph.Daemon{Type: ceph.TypeOSD, ID: "0"})
				switch {
				case began == 0 && osd0.Version == u.target:
					began, before = u.cluster.Now, len(u.replaced)
					c.begins(u)
				case began > 0 && u.cluster.Now >= began+120_000 && before >= 0:
					if len(u.replaced) != before {
						t.Errorf("%v were replaced during the pause", u.replaced[before:])
					}
					before = -1
					c.ends(u)
				}
			}
			u.run()
			if before != -1 {
				t.Error("the pause did not begin or end")
			}
			if !u.paused[c.want] {
				t.Errorf("want a pause for %q, got %v", c.want, u.paused)
			}
		})
	}
}
