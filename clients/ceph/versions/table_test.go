package versions_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph/versions"
)

func number(t *testing.T, text string) versions.Version {
	t.Helper()
	v, err := versions.ParseNumber(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestParseNumberRefuses(t *testing.T) {
	for _, text := range []string{"", "18", "18.2", "reef", "v18.2.7", "18.2.7 ", "18.2.99999", strings.Repeat("1", 1000)} {
		if v, err := versions.ParseNumber(text); err == nil {
			t.Errorf("%q is %v", text, v)
		}
	}
}

func TestVersionString(t *testing.T) {
	for text, want := range map[string]string{"18.2.7": "18.2.7 reef", "19.1.33-403": "19.1.33-403 squid", "11.2.0": "11.2.0 unknown"} {
		if got := embedded(t).Describe(number(t, text)); got != want {
			t.Errorf("%s: want %q, got %q", text, want, got)
		}
	}
	if got := (versions.Version{}).String(); got != "" {
		t.Errorf("the zero version is %q", got)
	}
}

func TestTablePermit(t *testing.T) {
	cases := map[string]struct {
		version string
		allow   bool
		want    string
	}{
		"a supported release":                          {version: "18.2.7"},
		"a release of the table, not supported":        {version: "17.2.7", want: "Ceph 17.2.7 quincy is not supported. Supported are 14 nautilus, 16 pacific, 18 reef, 19 squid, 20 tentacle. To run it anyway, set allowUnsupported to true"},
		"a release of the table, allowed":              {version: "17.2.7", allow: true},
		"a future release":                             {version: "21.1.0", want: "Ceph 21.1.0 unknown is not supported. Supported are 14 nautilus, 16 pacific, 18 reef, 19 squid, 20 tentacle. To run it anyway, set allowUnsupported to true"},
		"a release before the table, although asked":   {version: "10.2.11", allow: true, want: "Ceph 10.2.11 is older than 12 luminous, the oldest release that can be managed. Supported are 14 nautilus, 16 pacific, 18 reef, 19 squid, 20 tentacle"},
		"a known defect, although asked":               {version: "16.2.6", allow: true, want: "Ceph 16.2.6 must not run: the conversion of an OSD to per-pool omap can lose data. Use a later version of pacific"},
		"a release that cannot be run, although asked": {version: "13.2.2", allow: true, want: "Ceph 13.2.2 mimic cannot be run: it lacks the protocol v2 with which monitors are launched. Supported are 14 nautilus, 16 pacific, 18 reef, 19 squid, 20 tentacle"},
		"after a known defect":                         {version: "16.2.7"},
		"before a known defect":                        {version: "16.1.0"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if p := embedded(t).Permit(number(t, c.version), c.allow); p != nil {
				got = p.Message
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTableNext(t *testing.T) {
	cases := map[string]struct {
		from, to int
		want     string
	}{
		"the release in between is not supported": {14, 16, ""},
		"and again":                              {16, 18, ""},
		"one release":                            {18, 19, ""},
		"the same release":                       {18, 18, ""},
		"an older release":                       {18, 16, ""},
		"a supported release is skipped":         {14, 18, "16 pacific"},
		"several supported releases are skipped": {14, 20, "16 pacific"},
		"from a release that is not supported":   {15, 18, "16 pacific"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			skipped, ok := embedded(t).Next(c.from, c.to)
			if skipped != c.want || ok != (c.want == "") {
				t.Errorf("want %q, got %q, %t", c.want, skipped, ok)
			}
		})
	}
}

func TestTableClassify(t *testing.T) {
	cases := map[string]struct {
		code      string
		major     int
		component string
		want      versions.Class
	}{
		"a full OSD":                                   {"OSD_FULL", 18, "osd", versions.Stop},
		"an OSD down while OSDs are replaced":          {"OSD_DOWN", 18, "osd", versions.Caused},
		"an OSD down while mons are replaced":          {"OSD_DOWN", 18, "mon", versions.Stop},
		"no standby while MDSs are replaced":           {"MDS_INSUFFICIENT_STANDBY", 16, "mds", versions.Lasting},
		"no standby while OSDs are replaced":           {"MDS_INSUFFICIENT_STANDBY", 16, "osd", versions.Stop},
		"a disk that is nearly full":                   {"MON_DISK_LOW", 14, "mon", versions.Noise},
		"a code that the new release brings":           {"BLUESTORE_NO_PER_POOL_OMAP", 16, "osd", versions.Noise},
		"that code on a release without it":            {"BLUESTORE_NO_PER_POOL_OMAP", 14, "osd", versions.Unclassified},
		"a code of no class":                           {"TEST_BOOM", 18, "osd", versions.Unclassified},
		"a release that is not known has shared codes": {"OSD_DOWN", 99, "osd", versions.Caused},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := embedded(t).Classify(c.code, c.major, c.component); got != c.want {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}

func TestTableColumns(t *testing.T) {
	table := embedded(t)
	named, ok := table.Named("pacific")
	if !ok || named.Major != 16 || named.MDSStandbys != versions.StandbysStop || !named.MDSJoinFS || named.Dashboard != "https" {
		t.Errorf("pacific: %+v, %t", named, ok)
	}
	if r, _ := table.Release(15); r == nil || !r.MDSJoinFS || r.KeyService || !named.KeyService {
		t.Errorf("octopus: %+v, pacific: %+v", r, named)
	}
	if r, _ := table.Release(12); r == nil || r.Dashboard != "http" {
		t.Errorf("luminous: %+v", r)
	}
	if _, ok := table.Named("unknown"); ok {
		t.Error("an unknown name is a release")
	}
	if _, ok := table.Release(99); ok {
		t.Error("an unknown major is a release")
	}
	if got := table.Source(); got != "ceph-versions.yaml" {
		t.Error(got)
	}
}

func TestTableUser(t *testing.T) {
	table, err := versions.Parse([]byte(`{default: a, user: 167, users: {"debian/": 64045, "debian/other": 5}, releases: [{major: 18, name: reef, supported: true, dashboard: https, mdsStandbys: upgrade}]}`), "test")
	if err != nil {
		t.Fatal(err)
	}
	for image, want := range map[string]int64{"quay.io/ceph/ceph:v18": 167, "debian/ceph:18": 64045, "debian/other:18": 5} {
		if got := table.User(image); got != want {
			t.Errorf("%s: want %d, got %d", image, want, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const row = "{major: 18, name: reef, supported: true, dashboard: https, mdsStandbys: upgrade}"
	table := func(rest string) string { return "default: a\nuser: 167\n" + rest }
	cases := map[string]struct {
		text string
		want []string
	}{
		"nothing":            {"", []string{"the table is empty: write releases"}},
		"no YAML":            {"{", []string{"yaml: line 1: did not find expected node content"}},
		"a field of no name": {table("releases: [" + row + "]\nsupport: []"), []string{"yaml: unmarshal errors:\n  line 4: field support not found in type versions.file"}},
		"two documents":      {table("releases: [" + row + "]\n---\n{}"), []string{"the table is more than one YAML document: use one"}},
		"too long":           {strings.Repeat("#", 1<<20+1), []string{"the table has more than 1048576 bytes"}},
		"no release, no default, root": {"users: {x: 0}", []string{
			`default: "" is not an image: write one such as ceph/ceph:v18.2.7`, "users x: the id must be positive: daemons do not run as root",
			"user: the id must be positive: daemons do not run as root", "releases: the list is empty: write at least one release",
		}},
		"columns": {table("releases: [" + row + ", {major: 18, name: Reef, dashboard: ftp, mdsStandbys: kill}]"), []string{
			"release 18: the major must be positive and unique", `release 18: the name "Reef" must be lower-case letters and unique`,
			`release 18: dashboard is "ftp": write http or https`, `release 18: mdsStandbys is "kill": write stop or upgrade`,
		}},
		"ranges": {table("releases: [{major: 18, name: reef, dashboard: https, mdsStandbys: stop, bad: [{from: x, to: 18.2.0, reason: r}, {from: 18.2.1, to: 18.2.0}, {from: 16.2.1, to: 18.2.0, reason: r}]}]"), []string{
			`release 18: bad: "x" is not a Ceph version: write one such as 18.2.7`, "release 18: bad: 18.2.1 to 18.2.0 is not a range of this release",
			"release 18: bad: 18.2.1 to 18.2.0 has no reason", "release 18: bad: 16.2.1 to 18.2.0 is not a range of this release",
		}},
		"codes": {table("releases: [" + row + "]\nhealth: {stop: [osd_down, A], noise: [A], caused: {B: [nfs]}, lasting: {C: []}}"), []string{
			"health: A is listed twice", `health: B: "nfs" is none of mon, mgr, osd, rgw, mds`, `health: "osd_down" is not a health code such as OSD_DOWN`,
			"health: C: name the types of daemons that cause it",
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := versions.Parse([]byte(c.text), "test")
			var refused *versions.TableError
			if !errors.As(err, &refused) {
				t.Fatalf("not refused: %v", err)
			}
			if diff := cmp.Diff(c.want, refused.Findings); diff != "" {
				t.Error(diff)
			}
			if !strings.HasPrefix(err.Error(), "version table test: ") {
				t.Error(err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("default: a\nuser: 1\nreleases: []"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if table, err := versions.Parse(data, "fuzz"); err == nil {
			table.Supported()
		}
	})
}
