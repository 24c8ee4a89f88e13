package versions_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

func embedded(t testing.TB) *versions.Table {
	t.Helper()
	table, err := versions.Embedded()
	if err != nil {
		t.Fatalf("embedded table: %v", err)
	}
	return table
}

func mustParse(t testing.TB, text string) *versions.Table {
	t.Helper()
	table, err := versions.Parse([]byte(text), "test")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestEmbeddedTable(t *testing.T) {
	table := embedded(t)
	want := []string{"3.9.0", "3.9.1", "3.9.2", "4.0.0", "4.0.1", "4.0.2", "4.1.0", "4.1.1", "4.1.2", "4.2.0", "4.3.0", "4.3.1"}
	if diff := cmp.Diff(want, table.Supported()); diff != "" {
		t.Errorf("supported versions (-want +got):\n%s", diff)
	}
	if got := table.Default().String(); got != "4.3.1" {
		t.Errorf("default %s, want 4.3.1", got)
	}
}

// Every row has the levels of Kafka's release, as another project read them from Kafka's
// sources. A feature that a release does not have is in the row with level 0 only, so that
// a cluster that finalized it is not moved to that release.
func TestEmbeddedLevelsEqualKafkas(t *testing.T) {
	features := []string{
		versions.FeatureEligibleLeaderReplicas, versions.FeatureGroup, versions.FeatureKRaft, versions.FeatureMetadata,
		versions.FeatureShare, versions.FeatureStreams, versions.FeatureTransaction,
	}
	for row := range embedded(t).Rows() {
		t.Run(row.Number().String(), func(t *testing.T) {
			release := kversion.FromString("v" + row.Number().String()[:strings.LastIndex(row.Number().String(), ".")])
			if release == nil {
				t.Fatal("the other table does not have this release")
			}
			want := map[string]versions.Range{}
			for _, f := range features {
				want[f] = versions.Range{}
			}
			release.EachSupportedFeature(func(name string, lowest, highest int16) {
				want[name] = versions.Range{Min: lowest, Max: highest}
			})
			got := maps.Collect(row.Features())
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("levels (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTableLookup(t *testing.T) {
	table := mustParse(t, `
- {version: 4.1.1, supported: true, default: true, metadata: "4.1"}
- {version: 4.1.1-acme-2, supported: false, metadata: 4.1-IV0, image: registry.example/acme/kafka:7}
- {version: 4.2.0, supported: true}
`)
	cases := map[string]struct {
		text      string
		wantKnown bool
		wantImage string
		wantRange versions.Range
	}{
		"a release":                      {"4.1.1", true, "apache/kafka:4.1.1", versions.Range{Min: 7, Max: 27}},
		"a build with its own row":       {"4.1.1-acme-2", true, "registry.example/acme/kafka:7", versions.Range{Min: 7, Max: 26}},
		"a build without one is unknown": {text: "4.1.1-acme-3", wantImage: "apache/kafka:4.1.1-acme-3"},
		"a version of the future":        {text: "99.0.0", wantImage: "apache/kafka:99.0.0"},
		"a row without metadata":         {"4.2.0", true, "apache/kafka:4.2.0", versions.Range{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := table.Lookup(mustNumber(t, tc.text))
			if found, err := table.Find(tc.text); err != nil || found != v {
				t.Errorf("Find gives %v, %v, and Lookup %v", found, err, v)
			}
			if got := table.Image(tc.text); got != tc.wantImage {
				t.Errorf("image %s, want %s", got, tc.wantImage)
			}
			row, known := v.Row()
			if known != tc.wantKnown || v.String() != tc.text || v.IsZero() {
				t.Fatalf("known %t, text %q", known, v)
			}
			if !known {
				if row != nil {
					t.Errorf("an unknown version has a row: %v", row)
				}
				return
			}
			levels, ok := row.Range(versions.FeatureMetadata)
			if ok != (tc.wantRange != versions.Range{}) || levels != tc.wantRange {
				t.Errorf("metadata.version %v (%t), want %v", levels, ok, tc.wantRange)
			}
			if row.Image() != tc.wantImage {
				t.Errorf("image %s, want %s", row.Image(), tc.wantImage)
			}
		})
	}
	if v, err := table.Find("four"); err == nil || !v.IsZero() {
		t.Errorf("Find of no version gives %v, %v", v, err)
	}
	if row, known := (versions.Version{}).Row(); known || row != nil {
		t.Errorf("no version has a row: %v", row)
	}
}

func TestRowRange(t *testing.T) {
	table := mustParse(t, `
- {version: 3.9.0, supported: true, metadata: "3.9"}
- {version: 3.2.0, supported: false, metadata: "3.2"}
- {version: 4.1.0, supported: true, default: true, metadata: "4.1", minMetadata: "4.0"}
- {version: 5.0.0, supported: true, features: {metadata.version: [22, 40], share.version: [1, 2]}}
`)
	cases := map[string]struct {
		version, feature string
		want             versions.Range
		wantMissing      bool
	}{
		"before 4.0 from level 1":         {version: "3.9.0", feature: "metadata.version", want: versions.Range{Min: 1, Max: 21}},
		"levels that only old rows have":  {version: "3.2.0", feature: "metadata.version", want: versions.Range{Min: 1, Max: 3}},
		"an explicit minimum, short form": {version: "4.1.0", feature: "metadata.version", want: versions.Range{Min: 25, Max: 27}},
		"levels without names":            {version: "5.0.0", feature: "metadata.version", want: versions.Range{Min: 22, Max: 40}},
		"another feature":                 {version: "5.0.0", feature: "share.version", want: versions.Range{Min: 1, Max: 2}},
		"a feature that is not named":     {version: "4.1.0", feature: "share.version", wantMissing: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			row, _ := table.Lookup(mustNumber(t, tc.version)).Row()
			got, ok := row.Range(tc.feature)
			if ok == tc.wantMissing || got != tc.want {
				t.Errorf("got %v (%t), want %v", got, ok, tc.want)
			}
		})
	}
}

func TestTableRowsAreSorted(t *testing.T) {
	table := mustParse(t, `
- {version: 4.10.0, supported: true}
- {version: 4.9.0-b, supported: true}
- {version: 4.9.0, supported: true, default: true}
- {version: 4.9.0-a, supported: false}
- {version: 3.9.0, supported: false}
`)
	var got []string
	for row := range table.Rows() {
		got = append(got, row.Number().String())
	}
	if diff := cmp.Diff([]string{"3.9.0", "4.9.0", "4.9.0-a", "4.9.0-b", "4.10.0"}, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"4.9.0", "4.9.0-b", "4.10.0"}, table.Supported()); diff != "" {
		t.Errorf("supported (-want +got):\n%s", diff)
	}
}

const okRow = "- {version: 4.1.0, supported: true, default: true, metadata: '4.1'}\n"

func TestParseFindings(t *testing.T) {
	cases := map[string]struct {
		table string
		want  []string // beginning of each finding
	}{
		"nothing":             {"", []string{"the table is empty"}},
		"only a comment":      {"# later\n", []string{"the table is empty"}},
		"no YAML":             {"- {version: 4", []string{"the table is not YAML"}},
		"no list":             {"version: 4.1.0\n", []string{"line 1: the table is not a list"}},
		"two documents":       {okRow + "---\n" + okRow, []string{"the table is more than one YAML document"}},
		"an empty list":       {"[]", []string{"no row is the default"}},
		"a row that is none":  {okRow + "- 4.2.0\n", []string{"line 2: row 2: the row is not a set of fields"}},
		"no default":          {"- {version: 4.1.0, supported: true}\n", []string{"no row is the default"}},
		"two defaults":        {okRow + "- {version: 4.2.0, supported: true, default: true}\n", []string{"2 rows are the default (4.1.0, 4.2.0)"}},
		"an unsupported one":  {"- {version: 4.1.0, supported: false, default: true}\n", []string{`line 1: row 1 (4.1.0), field "default": the default is not supported`}},
		"a duplicate":         {okRow + "\n- {version: 4.1.0, supported: true}\n", []string{`line 3: row 2 (4.1.0), field "version": 4.1.0 is listed twice, first in line 1`}},
		"no version":          {okRow + "- {supported: true}\n", []string{`line 2: row 2, field "version": the field is missing`}},
		"a null version":      {okRow + "- {version: null, supported: true}\n", []string{`line 2: row 2 (null), field "version": the field is missing`}},
		"half a version":      {okRow + "- {version: 4.2, supported: true}\n", []string{`line 2: row 2 (4.2), field "version": "4.2" is not a Kafka version`}},
		"a list as a version": {okRow + "- {version: [4.2.0], supported: true}\n", []string{`line 2: row 2, field "version": write one value`}},
		"supported left out":  {okRow + "- version: 4.2.0\n", []string{`line 2: row 2 (4.2.0), field "supported": the field is missing`}},
		"supported yes":       {okRow + "- {version: 4.2.0, supported: yes}\n", []string{`line 2: row 2 (4.2.0), field "supported": "yes" is neither true nor false`}},
		"a mistyped field": {okRow + "- version: 4.2.0\n  supported: true\n  metdata: 4.2-IV1\n",
			[]string{`line 4: row 2 (4.2.0), field "metdata": no such field: a row has version, supported, default, image, features, metadata, minMetadata`}},
		"a field twice":        {okRow + "- version: 4.2.0\n  supported: true\n  supported: false\n", []string{`line 4: row 2 (4.2.0), field "supported": the field is given twice`}},
		"an empty image":       {okRow + "- {version: 4.2.0, supported: true, image: ''}\n", []string{`line 2: row 2 (4.2.0), field "image": "" is not an image`}},
		"an image with spaces": {okRow + "- {version: 4.2.0, supported: true, image: 'a b'}\n", []string{`line 2: row 2 (4.2.0), field "image": "a b" is not an image`}},
		"metadata that is no name": {okRow + "- version: 4.2.0\n  supported: true\n  metadata: high\n",
			[]string{`line 4: row 2 (4.2.0), field "metadata": "high" is not a metadata version`}},
		"metadata that never was": {okRow + "- {version: 4.2.0, supported: true, metadata: 4.2-IV7}\n",
			[]string{`line 2: row 2 (4.2.0), field "metadata": metadata version "4.2-IV7" is not one that Kafka released: write 4.2, or one of 4.2-IV0, 4.2-IV1`}},
		"metadata older than KRaft": {okRow + "- {version: 2.8.0, supported: false, metadata: 2.8-IV1}\n",
			[]string{`line 2: row 2 (2.8.0), field "metadata": metadata version "2.8-IV1" is older than KRaft`}},
		"metadata of the future": {okRow + "- {version: 5.0.0, supported: true, metadata: 5.0-IV0}\n",
			[]string{`line 2: row 2 (5.0.0), field "metadata": the level of 5.0-IV0 is not known to this binary`}},
		"a minimum alone": {okRow + "- {version: 4.2.0, supported: true, minMetadata: 4.0-IV0}\n",
			[]string{`line 2: row 2 (4.2.0), field "minMetadata": given without metadata`}},
		"a minimum above the maximum": {okRow + "- {version: 4.2.0, supported: true, metadata: 4.0-IV0, minMetadata: 4.1-IV0}\n",
			[]string{`line 2: row 2 (4.2.0), field "metadata": the lowest metadata version, 4.1-IV0 (level 26), is above the highest, 4.0-IV0 (level 22)`}},
		"a 4.x maximum below what 4.x runs": {okRow + "- {version: 4.2.0, supported: true, metadata: 3.3-IV0}\n",
			[]string{`line 2: row 2 (4.2.0), field "metadata": the lowest metadata version, 3.3-IV3 (level 7), is above the highest, 3.3-IV0 (level 4)`}},
		"metadata given twice over": {okRow + "- {version: 4.2.0, supported: true, metadata: '4.2', features: {metadata.version: [7, 29]}}\n",
			[]string{`line 2: row 2 (4.2.0), field "features": metadata.version is given by metadata`}},
		"features as a list": {okRow + "- {version: 4.2.0, supported: true, features: [share.version]}\n",
			[]string{`line 2: row 2 (4.2.0), field "features": not a set of features`}},
		"one level": {okRow + "- {version: 4.2.0, supported: true, features: {share.version: 1}}\n",
			[]string{`line 2: row 2 (4.2.0), field "features.share.version": write the lowest and the highest level`}},
		"three levels": {okRow + "- {version: 4.2.0, supported: true, features: {share.version: [0, 1, 2]}}\n",
			[]string{`line 2: row 2 (4.2.0), field "features.share.version": write the lowest and the highest level`}},
		"a level that is no number": {okRow + "- {version: 4.2.0, supported: true, features: {share.version: [0, one]}}\n",
			[]string{`line 2: row 2 (4.2.0), field "features.share.version": "one" is not a level`}},
		"a level above int16": {okRow + "- {version: 4.2.0, supported: true, features: {share.version: [0, 32768]}}\n",
			[]string{`line 2: row 2 (4.2.0), field "features.share.version": "32768" is not a level`}},
		"a negative level": {okRow + "- {version: 4.2.0, supported: true, features: {share.version: [-1, 1]}}\n",
			[]string{`line 2: row 2 (4.2.0), field "features.share.version": "-1" is not a level`}},
		"levels the wrong way round": {okRow + "- {version: 4.2.0, supported: true, features: {share.version: [1, 0]}}\n",
			[]string{`line 2: row 2 (4.2.0), field "features.share.version": the lowest level 1 is above the highest 0`}},
		"a feature twice": {okRow + "- version: 4.2.0\n  supported: true\n  features:\n    share.version: [0, 1]\n    share.version: [0, 2]\n",
			[]string{`line 6: row 2 (4.2.0), field "features.share.version": the feature is given twice`}},
		"an alias": {"- &row {version: 4.1.0, supported: true, default: true}\n- *row\n",
			[]string{`line 2: row 2: the row is not a set of fields`}},
		"all of it at once": {"- {version: 4, supported: maybe}\n- {version: 4.2.0, supported: true, metadata: '4'}\n",
			[]string{`line 1: row 1 (4), field "version"`, `line 1: row 1 (4), field "supported"`, `line 2: row 2 (4.2.0), field "metadata"`, "no row is the default"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			table, err := versions.Parse([]byte(tc.table), "versions/my.yaml")
			var tableErr *versions.TableError
			if !errors.As(err, &tableErr) || table != nil {
				t.Fatalf("got %v, %v", table, err)
			}
			if len(tableErr.Findings) != len(tc.want) {
				t.Fatalf("want %d findings: %v", len(tc.want), err)
			}
			for i, f := range tableErr.Findings {
				if !strings.HasPrefix(f.String(), tc.want[i]) {
					t.Errorf("finding %d:\n got %s\nwant %s ...", i, f, tc.want[i])
				}
				if !strings.Contains(err.Error(), f.String()) || !strings.Contains(err.Error(), "versions/my.yaml") {
					t.Errorf("the error leaves out the source or finding %q: %v", f, err)
				}
			}
		})
	}
}

// A table written as JSON, for example in a ConfigMap, parses the same.
func TestParseJSON(t *testing.T) {
	table := mustParse(t, `[{"version": "4.1.0", "supported": true, "default": true, "metadata": "4.1", "features": {"share.version": [0, 1]}}]`)
	row, _ := table.Default().Row()
	if levels, ok := row.Range(versions.FeatureShare); !ok || levels != (versions.Range{Max: 1}) {
		t.Errorf("share.version %v (%t)", levels, ok)
	}
}

// Every reconcile looks versions up, so a lookup must not allocate.
func TestTableLookupDoesNotAllocate(t *testing.T) {
	table := embedded(t)
	a, b := table.Default(), table.Lookup(mustNumber(t, "4.1.2"))
	allocations := testing.AllocsPerRun(100, func() {
		v, err := table.Find("4.1.2")
		m, errM := versions.ParseMetadata("4.1-IV0")
		row, _ := v.Row()
		levels, _ := row.Range(versions.FeatureMetadata)
		level, _ := m.Level()
		if err != nil || errM != nil || v != b || a.Number().Compare(b.Number()) <= 0 || !levels.Contains(level) {
			panic("wrong answer")
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func FuzzParseTable(f *testing.F) {
	data, err := os.ReadFile("kafka-versions.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	for _, seed := range []string{okRow, "", "[]", "- *a", "- &a [*a]", "- {version: 5.0.0, supported: true, default: true, features: {metadata.version: [7, 40]}}",
		"- {version: 4.1.0, supported: true, default: true, metadata: 3.3-IV0}", "- {<<: {version: 4.1.0}, ? [a] : b}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := versions.Parse(data, "fuzz")
		if err != nil {
			var tableErr *versions.TableError
			if !errors.As(err, &tableErr) || len(tableErr.Findings) == 0 || table != nil {
				t.Fatalf("not a list of findings: %v", err)
			}
			return
		}
		checkTable(t, table)
	})
}

// checkTable checks the invariants of every table that was parsed.
func checkTable(t *testing.T, table *versions.Table) {
	t.Helper()
	defaults := 0
	var seen []string
	for row := range table.Rows() {
		text := row.Number().String()
		if slices.Contains(seen, text) {
			t.Fatalf("%s twice", text)
		}
		seen = append(seen, text)
		if found, ok := table.Lookup(row.Number()).Row(); !ok || found != row {
			t.Fatalf("%s does not find its row", text)
		}
		if table.Default().String() == text {
			defaults++
		}
		if table.Default().String() == text && !row.Supported() {
			t.Fatalf("the default %s is not supported", text)
		}
		for feature, levels := range row.Features() {
			if got, ok := row.Range(feature); !ok || got != levels || levels.Min > levels.Max || levels.Min < 0 {
				t.Fatalf("%s: %s %v, looked up %v", text, feature, levels, got)
			}
		}
	}
	if defaults != 1 {
		t.Fatal(fmt.Sprint(defaults, " defaults"))
	}
}
