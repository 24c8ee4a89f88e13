package versions_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

const repository = "../../.."

// caseFile is the part of test/testdata/cases that these tests read.
type caseFile struct {
	Suites []struct {
		ID    string
		Cases []yaml.Node
	}
}

type parseCase struct {
	Name  string
	Given struct {
		Metadata        *string
		CompareMetadata []string `yaml:"compare_metadata"`
		CompareVersions []string `yaml:"compare_versions"`
		CanonicalOf     *string  `yaml:"canonical_of"`
		VersionsFile    *struct {
			Entries  []string
			Defaults int
		} `yaml:"versions_file"`
	}
	Expect struct {
		Effective string
		Order     *int
		Canonical string
		Default   string
		Count     int
		Metadata  map[string]*string
		Error     *struct{ Kind string }
	}
}

// elsewhere is a case with a deliberately different outcome.
type elsewhere struct{ reason, page string }

// onPurpose lists these cases by suite and name.
var onPurpose = map[string]elsewhere{
	"version-parsing/versions file valid": {
		reason: "1.2-IV2 and 1.1 are older than KRaft and name no level: refused when the table is read, not when a cluster needs them",
		page:   "0105-version-table.md",
	},
}

func suiteOf(t *testing.T, id string) []parseCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, "test/testdata/cases/kafka-version-change.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file caseFile
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, s := range file.Suites {
		if s.ID != id {
			continue
		}
		cases := make([]parseCase, len(s.Cases))
		for i, node := range s.Cases {
			if err := node.Decode(&cases[i]); err != nil {
				t.Fatal(err)
			}
		}
		return cases
	}
	t.Fatalf("no suite %s", id)
	return nil
}

// runCase compares the expected outcome of the case with ours. It fails if the list of
// deliberate differences is not exact.
func runCase(t *testing.T, suite string, c parseCase, used map[string]bool) {
	t.Helper()
	key := suite + "/" + c.Name
	difference := c.difference()
	listed, ok := onPurpose[key]
	used[key] = true
	switch {
	case !ok && difference != "":
		t.Errorf("%s (-case +ours)\nnot listed as a deliberate difference", difference)
	case ok && difference == "":
		t.Errorf("listed as a deliberate difference (%s), and is none", listed.reason)
	case ok:
		if _, err := os.Stat(filepath.Join(repository, "docs/decisions", listed.page)); err != nil {
			t.Errorf("the page that explains the difference: %v", err)
		}
		t.Logf("differs on purpose: %s\n%s", listed.reason, difference)
	}
}

// difference describes what differs, "" for the same outcome.
func (c parseCase) difference() string {
	wantError := c.Expect.Error != nil
	got, err := c.outcome()
	if (err != nil) != wantError {
		return fmt.Sprintf("-error %t\n+error %v", wantError, err)
	}
	if err != nil {
		return ""
	}
	return cmp.Diff(c.expected(), got)
}

type outcome struct {
	Order              int
	Canonical, Default string
	Count              int
	Effective          string
}

func (c parseCase) expected() outcome {
	want := outcome{Canonical: c.Expect.Canonical, Default: c.Expect.Default, Count: c.Expect.Count, Effective: c.Expect.Effective}
	if c.Expect.Order != nil {
		want.Order = *c.Expect.Order
	}
	return want
}

var errNothingGiven = errors.New("the case gives nothing that is known here")

func (c parseCase) outcome() (outcome, error) {
	g := c.Given
	switch {
	case g.Metadata != nil:
		m, err := versions.WantedMetadata(*g.Metadata)
		if c.Expect.Effective == "" {
			return outcome{}, err
		}
		return outcome{Effective: m.String()}, err
	case g.CompareMetadata != nil:
		a, errA := versions.ParseMetadata(g.CompareMetadata[0])
		b, errB := versions.ParseMetadata(g.CompareMetadata[1])
		return outcome{Order: a.Compare(b)}, errors.Join(errA, errB)
	case g.CompareVersions != nil:
		a, errA := versions.ParseNumber(g.CompareVersions[0])
		b, errB := versions.ParseNumber(g.CompareVersions[1])
		return outcome{Order: a.Compare(b)}, errors.Join(errA, errB)
	case g.CanonicalOf != nil:
		n, err := versions.ParseNumber(*g.CanonicalOf)
		return outcome{Canonical: n.Core()}, err
	case g.VersionsFile != nil:
		return c.tableOutcome()
	default:
		return outcome{}, errNothingGiven
	}
}

// tableOutcome writes the table of the case, with every row supported, and parses it.
func (c parseCase) tableOutcome() (outcome, error) {
	var b strings.Builder
	for i, entry := range c.Given.VersionsFile.Entries {
		isDefault := i < c.Given.VersionsFile.Defaults
		if c.Expect.Default != "" {
			isDefault = entry == c.Expect.Default
		}
		fmt.Fprintf(&b, "- {version: %s, supported: true, default: %t", entry, isDefault)
		if m := c.Expect.Metadata[entry]; m != nil {
			fmt.Fprintf(&b, ", metadata: %q", *m)
		}
		b.WriteString("}\n")
	}
	table, err := versions.Parse([]byte(b.String()), "case")
	if err != nil {
		return outcome{}, err
	}
	return outcome{Default: table.Default().String(), Count: len(table.Supported())}, nil
}

func TestVersionsCases(t *testing.T) {
	used := map[string]bool{}
	for _, suite := range []string{"metadata-validation", "version-parsing"} {
		for _, c := range suiteOf(t, suite) {
			t.Run(suite+"/"+c.Name, func(t *testing.T) {
				if _, err := c.outcome(); errors.Is(err, errNothingGiven) {
					t.Fatal(err)
				}
				runCase(t, suite, c, used)
			})
		}
	}
	for key := range onPurpose {
		if !used[key] {
			t.Errorf("listed as a deliberate difference, and no such case: %s", key)
		}
	}
}
