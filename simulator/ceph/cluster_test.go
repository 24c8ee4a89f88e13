package ceph_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	client "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/simulator/ceph"
)

func three(release string) (*ceph.Cluster, client.Client) {
	c := ceph.New(cephtest.Releases()[release], cephtest.Daemons()...)
	return c, client.Client{Runner: c}
}

var (
	osd0 = client.Daemon{Type: client.TypeOSD, ID: "0"}
	mgrA = client.Daemon{Type: client.TypeMgr, ID: "a"}
	mdsA = client.Daemon{Type: client.TypeMDS, ID: "myfs-a"}
	mdsB = client.Daemon{Type: client.TypeMDS, ID: "myfs-b"}
)

func TestClusterHasNoStatisticsAfterATakeover(t *testing.T) {
	c, asks := three("16")
	c.Stop(mgrA)
	c.Advance(c.Now + 3_500)
	got, err := asks.OKToStop(t.Context(), osd0, []client.Daemon{osd0})
	if err != nil || got.Permission != client.Undecided {
		t.Errorf("at once: %+v, %v", got, err)
	}
	if pgs, err := asks.PGs(t.Context()); err != nil || pgs.States["unknown"] != pgs.Total {
		t.Errorf("at once: %+v, %v", pgs, err)
	}
	c.Advance(c.Now + 3_000)
	if got, err = asks.OKToStop(t.Context(), osd0, []client.Daemon{osd0}); err != nil || got.Permission != client.Permitted {
		t.Errorf("later: %+v, %v", got, err)
	}
}

func TestClusterReportsPlacementGroupsLate(t *testing.T) {
	c, asks := three("16")
	c.Advance(20_000)
	c.Stop(osd0)
	c.Advance(24_000)
	if pgs, err := asks.PGs(t.Context()); err != nil || pgs.States["active+clean"] != 8 {
		t.Errorf("four seconds later: %+v, %v", pgs, err)
	}
	c.Advance(25_000)
	if pgs, err := asks.PGs(t.Context()); err != nil || pgs.States["active+undersized+degraded"] != 8 {
		t.Errorf("after the report: %+v, %v", pgs, err)
	}
}

func TestClusterWaitsForTheSessionOfAClientThatIsGone(t *testing.T) {
	for name, evicts := range map[string]bool{"it is waited for": false, "it was evicted": true} {
		t.Run(name, func(t *testing.T) {
			c, asks := three("16")
			if err := c.Start(mgrA, cephtest.Releases()["16"], "another pod"); err != nil {
				t.Fatal(err)
			}
			c.Advance(c.Now + 10_000)
			if evicts {
				sessions, err := asks.Sessions(t.Context(), "myfs-a")
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range sessions {
					if s.Host != "another pod" {
						if err := asks.Evict(t.Context(), "myfs-a", s.ID); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			c.Stop(mdsA)
			c.Advance(c.Now + 10_000)
			f, err := asks.Filesystems(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := map[bool]string{false: "up:reconnect", true: client.MDSActive}[evicts]
			if got := f.Filesystems[0].MDS[0]; got.Name != "myfs-b" || got.State != want {
				t.Errorf("want %s, got %+v", want, got)
			}
		})
	}
}

// TestClusterKeepsTheRankOfAKilledMetadataServer until another one takes it over, as the monitors do.
func TestClusterKeepsTheRankOfAKilledMetadataServer(t *testing.T) {
	c, asks := three("18")
	shown := func() (all []client.MDS) {
		c.Advance(c.Now + 60_000)
		f, err := asks.Filesystems(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return f.Filesystems[0].MDS
	}
	c.Stop(mdsB)
	c.Kill(mdsA)
	laggy := []client.MDS{{Name: "myfs-a", State: client.MDSActive, JoinsID: -1, Laggy: true}}
	if diff := cmp.Diff(laggy, shown()); diff != "" {
		t.Errorf("without a standby (-want +got):\n%s", diff)
	}
	if err := c.Start(mdsB, cephtest.Releases()["18"], "another pod"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]client.MDS{{Name: "myfs-b", State: client.MDSActive, JoinsID: -1}}, shown()); diff != "" {
		t.Errorf("with a standby (-want +got):\n%s", diff)
	}
}

func TestClusterFaults(t *testing.T) {
	busy := client.Result{Code: 16, Stderr: []byte("Error EBUSY: no\n")}
	cases := map[string]struct {
		fault ceph.Fault
		check func(t *testing.T, c *ceph.Cluster, asks client.Client)
	}{
		"a refusal, once": {ceph.Fault{Command: "mgr fail", Result: busy, Times: 1}, func(t *testing.T, _ *ceph.Cluster, asks client.Client) {
			if r, ok := client.AsRefused(asks.FailMgr(t.Context(), "a")); !ok || r.Kind != client.Busy {
				t.Errorf("at first: %+v", r)
			}
			if err := asks.FailMgr(t.Context(), "a"); err != nil {
				t.Errorf("then: %v", err)
			}
		}},
		"a wrong answer, always": {ceph.Fault{Command: "health", Result: client.Result{Stdout: []byte("{")}}, func(t *testing.T, _ *ceph.Cluster, asks client.Client) {
			for range 3 {
				if _, err := asks.Health(t.Context()); err == nil {
					t.Error("it was read")
				}
			}
		}},
		"a lost reply": {ceph.Fault{Command: "osd set-group", Kind: ceph.LoseReply, Times: 2}, func(t *testing.T, _ *ceph.Cluster, asks client.Client) {
			if err := asks.SetNoOut(t.Context(), 0, true); !client.IsOutcomeUnknown(err) {
				t.Errorf("%v", err)
			}
			if m, err := asks.OSDMap(t.Context()); err != nil || !m.OSDs[0].NoOut {
				t.Errorf("it was not executed: %+v, %v", m, err)
			}
		}},
		"a command that hangs": {ceph.Fault{Kind: ceph.Hang}, func(t *testing.T, c *ceph.Cluster, asks client.Client) {
			if err := asks.SetNoOut(t.Context(), 0, true); !client.IsOutcomeUnknown(err) {
				t.Errorf("%v", err)
			}
			if d, _ := c.Daemon(osd0); d.NoOut {
				t.Error("it was executed")
			}
		}},
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			c, asks := three("16")
			c.Faults = []ceph.Fault{f.fault}
			f.check(t, c, asks)
		})
	}
}

func TestClusterRaise(t *testing.T) {
	c, asks := three("16")
	boom := client.Check{Code: "TEST_BOOM", Severity: client.HealthErr, Summary: "boom"}
	c.Raise(boom)
	c.Raise(boom)
	h, err := asks.Health(t.Context())
	if diff := cmp.Diff(client.Health{Status: client.HealthErr, Checks: []client.Check{boom}}, h); err != nil || diff != "" {
		t.Error(err, diff)
	}
	c.Clear("TEST_BOOM")
	if h, err = asks.Health(t.Context()); err != nil || h.Status != client.HealthOK {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestClusterClone(t *testing.T) {
	c, asks := three("16")
	c.Keys["a"] = "1"
	other := c.Clone()
	other.Stop(osd0)
	other.Keys["a"] = "2"
	other.Faults = append(other.Faults, ceph.Fault{})
	other.Advance(60_000)
	if _, err := asks.Health(t.Context()); err != nil {
		t.Error(err)
	}
	if d, _ := c.Daemon(osd0); !d.Running || c.Keys["a"] != "1" || c.Now >= 60_000 {
		t.Errorf("the original changed: %+v", c)
	}
}

func TestClusterRefusesUnknownDaemons(t *testing.T) {
	c, _ := three("16")
	nosuch := client.Daemon{Type: client.TypeOSD, ID: "9"}
	err := c.Start(nosuch, cephtest.Releases()["16"], "pod")
	if _, died := errors.AsType[*ceph.Died](err); err == nil || died {
		t.Errorf("%v", err)
	}
	c.Stop(nosuch)
	if _, known := c.Daemon(nosuch); known {
		t.Error("it exists")
	}
}

// TestNewEmpty builds a cluster with the commands of an operator. Each of them is repeated.
func TestNewEmpty(t *testing.T) {
	c, version := ceph.NewEmpty(16), cephtest.Releases()["16"]
	asks, ctx := client.Client{Runner: c}, t.Context()
	launch := func(d client.Daemon) {
		c.Add(d)
		if err := c.Start(d, version, d.String()); err != nil {
			t.Fatal(err)
		}
		c.Advance(c.Now + 15_000)
	}
	if _, err := asks.Quorum(ctx); err == nil {
		t.Error("a cluster without monitors answers")
	}
	launch(client.Daemon{Type: client.TypeMon, ID: "a"})
	launch(mgrA)
	for range 2 {
		for what, err := range map[string]error{
			"keys": asks.ImportKeys(ctx, "[mgr.a]"), "an OSD": asks.NewOSD(ctx, "4d0d5e9f", "AQ=="),
			"a pool": errors.Join(asks.CreatePool(ctx, "meta", 16), asks.CreatePool(ctx, "data", 32)),
		} {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := asks.CreateFilesystem(ctx, "myfs", "meta", "data"); err != nil {
			t.Error(err)
		}
	}
	if err := c.Start(osd0, version, "osd.0"); err != nil {
		t.Fatal(err)
	}
	launch(mdsA)
	m, err := asks.OSDMap(ctx)
	if diff := cmp.Diff([]client.OSD{{Number: 0, UUID: "4d0d5e9f", Up: true, In: true}}, m.OSDs); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	f, err := asks.Filesystems(ctx)
	if err != nil || len(f.Filesystems) != 1 || len(f.Filesystems[0].MDS) != 1 || f.Filesystems[0].MDS[0].State != client.MDSActive {
		t.Errorf("%+v, %v", f, err)
	}
	if err := asks.CreateFilesystem(ctx, "other", "none", "data"); err == nil {
		t.Error("a filesystem in a pool that does not exist is accepted")
	}
}

// TestClusterAnswersForTheReportedPools permits to stop an OSD that holds the only copy until the statistics have the pool as it is.
func TestClusterAnswersForTheReportedPools(t *testing.T) {
	c, asks := three("16")
	c.Advance(20_000)
	c.Pools = []ceph.Pool{{PGs: 8, Size: 1, MinSize: 1}}
	for after, want := range map[int64]client.Permission{4_000: client.Permitted, 5_000: client.Denied} {
		at := c.Clone()
		at.Advance(c.Now + after)
		got, err := client.Client{Runner: at}.OKToStop(t.Context(), osd0, []client.Daemon{osd0})
		if err != nil || got.Permission != want {
			t.Errorf("after %d ms: %+v, %v, want %s", after, got, err, want)
		}
	}
	if got, err := asks.OKToStop(t.Context(), osd0, []client.Daemon{osd0}); err != nil || got.Permission != client.Permitted {
		t.Errorf("at once: %+v, %v", got, err)
	}
}
