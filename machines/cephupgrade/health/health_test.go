package health_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/machines/cephupgrade/health"
	"github.com/detent-dev/detent/transitions"
)

func warns(codes ...string) (h ceph.Health) {
	for _, c := range codes {
		h.Checks = append(h.Checks, ceph.Check{Code: c, Severity: ceph.HealthWarn})
	}
	return h
}

func fails(code string) ceph.Health {
	return ceph.Health{Checks: []ceph.Check{{Code: code, Severity: ceph.HealthErr}}}
}

func muted(code string) ceph.Health {
	return ceph.Health{Checks: []ceph.Check{{Code: code, Severity: ceph.HealthErr, Muted: true}}}
}

func TestGateVerdict(t *testing.T) {
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	const remedy = "; to let a code pass in this upgrade, annotate detent.dev/ignore-health: CODE=<attempt id>"
	osd, mds := health.Gate{Component: ceph.TypeOSD}, health.Gate{Component: ceph.TypeMDS}
	with := func(g health.Gate, change func(*health.Gate)) health.Gate {
		change(&g)
		return g
	}
	replacing := func(g *health.Gate) { g.Replacing = true }
	reduced := func(g *health.Gate) { g.Reduced = true }
	corrected := func(g *health.Gate) { g.Corrected = []ceph.Type{ceph.TypeMon, ceph.TypeMDS} }
	before := func(g *health.Gate) { g.Before = []string{"TEST_BOOM"} }
	ignored := func(g *health.Gate) { g.Ignored = []string{"TEST_BOOM", "OSD_FULL"} }
	cases := map[string]struct {
		gate   health.Gate
		health ceph.Health
		want   string
	}{
		"healthy":                                     {gate: osd},
		"what an upgrade brings":                      {gate: osd, health: warns("BLUESTORE_NO_PER_POOL_OMAP", "MON_DISK_LOW", "OSDMAP_FLAGS", "OSD_UPGRADE_FINISHED", "RECENT_CRASH")},
		"a full OSD":                                  {osd, warns("OSD_FULL"), "health codes OSD_FULL"},
		"a full OSD that was full before":             {with(osd, func(g *health.Gate) { g.Before = []string{"OSD_FULL"} }), warns("OSD_FULL"), "health codes OSD_FULL"},
		"a full OSD that an admin lets pass":          {gate: with(osd, ignored), health: warns("OSD_FULL")},
		"an OSD is down before the next one":          {osd, warns("OSD_DOWN", "PG_DEGRADED"), "health codes OSD_DOWN, PG_DEGRADED"},
		"an OSD is down because it is replaced":       {gate: with(osd, replacing), health: warns("OSD_DOWN", "OSD_FLAGS", "PG_AVAILABILITY", "PG_DEGRADED")},
		"an OSD is down while monitors are replaced":  {with(health.Gate{Component: ceph.TypeMon}, replacing), warns("OSD_DOWN"), "health codes OSD_DOWN"},
		"an error that the replaced daemon causes":    {gate: with(mds, replacing), health: fails("MDS_ALL_DOWN")},
		"the same error before the next daemon":       {mds, fails("MDS_ALL_DOWN"), "health codes MDS_ALL_DOWN"},
		"no standby between two metadata servers":     {gate: mds, health: warns("MDS_INSUFFICIENT_STANDBY")},
		"no standby while OSDs are replaced":          {osd, warns("MDS_INSUFFICIENT_STANDBY"), "health codes MDS_INSUFFICIENT_STANDBY"},
		"no standby of a filesystem that is reduced":  {gate: with(osd, reduced), health: warns("MDS_INSUFFICIENT_STANDBY")},
		"a reduced filesystem recovers":               {with(osd, reduced), warns("FS_DEGRADED"), "health codes FS_DEGRADED"},
		"daemons of other types are corrected later":  {gate: with(osd, corrected), health: warns("MON_DOWN", "MDS_INSUFFICIENT_STANDBY")},
		"an error while others are corrected later":   {with(osd, corrected), fails("MDS_INSUFFICIENT_STANDBY"), "health codes MDS_INSUFFICIENT_STANDBY"},
		"daemons of a type that is not corrected":     {with(osd, corrected), warns("MGR_DOWN", "OSD_FULL"), "health codes MGR_DOWN, OSD_FULL"},
		"a code of no class":                          {osd, warns("TEST_BOOM"), "health codes TEST_BOOM" + remedy},
		"a code of no class that was raised before":   {gate: with(osd, before), health: warns("TEST_BOOM")},
		"an error of no class that was raised before": {with(osd, before), fails("TEST_BOOM"), "health codes TEST_BOOM" + remedy},
		"a code of no class that an admin lets pass":  {gate: with(osd, ignored), health: fails("TEST_BOOM")},
		"noise that became an error":                  {osd, fails("MON_DISK_LOW"), "health codes MON_DISK_LOW"},
		"a code that an admin muted":                  {gate: osd, health: muted("OSD_FULL")},
		"many codes":                                  {osd, warns("OSD_BACKFILLFULL", "OSD_FULL", "PG_DAMAGED", "SLOW_OPS"), "health codes OSD_BACKFILLFULL, OSD_FULL, PG_DAMAGED and others"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.gate.Table, c.gate.Major = table, 18
			got := c.gate.Verdict(c.health)
			if diff := cmp.Diff(c.want, got.Observed); diff != "" || (got.Answer == transitions.Yes) != (c.want == "") {
				t.Errorf("%s: %s", got.Answer, diff)
			}
		})
	}
}

func TestIgnored(t *testing.T) {
	cases := map[string]struct {
		annotation, attempt string
		want                []string
	}{
		"none":                {"", "5f2c91", nil},
		"one":                 {"TEST_BOOM=5f2c91", "5f2c91", []string{"TEST_BOOM"}},
		"several":             {"TEST_BOOM=5f2c91, OSD_FULL=5f2c91", "5f2c91", []string{"TEST_BOOM", "OSD_FULL"}},
		"for another attempt": {"TEST_BOOM=000000", "5f2c91", nil},
		"without an attempt":  {"TEST_BOOM", "5f2c91", nil},
		"no attempt to match": {"TEST_BOOM=", "", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, health.Ignored(c.annotation, c.attempt)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnbound(t *testing.T) {
	cases := map[string]struct {
		annotation string
		want       []string
	}{
		"none":                {"", nil},
		"bound":               {"TEST_BOOM=5f2c91, OSD_FULL=5f2c91,", nil},
		"without an attempt":  {"TEST_BOOM=5f2c91, OSD_DOWN,OSD_FULL=", []string{"OSD_DOWN", "OSD_FULL="}},
		"an attempt and none": {"=5f2c91", []string{"=5f2c91"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, health.Unbound(c.annotation)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCodes(t *testing.T) {
	if diff := cmp.Diff([]string{"OSD_DOWN", "SLOW_OPS"}, health.Codes(warns("OSD_DOWN", "SLOW_OPS"))); diff != "" {
		t.Error(diff)
	}
}
