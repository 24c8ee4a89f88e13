package versions_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/transitions"
)

// caseFile is the part of test/testdata/cases/ceph.yaml that these tests read. Where a case has a want, it is the outcome here.
type caseFile struct {
	Parse     []versionCase `yaml:"version_parse"`
	Compare   []versionCase `yaml:"version_compare"`
	Supported []versionCase `yaml:"version_supported"`
}

type versionCase struct {
	Name  string
	Given struct {
		Text, Version, Minimum, Target string
		Major                          int
		A, B                           numberOf
		AllowUnsupported               bool `yaml:"allowUnsupported"`
		Image                          *string
	}
	Expect map[string]any
	Want   map[string]any
}

// numberOf is a version as text, or with its commit.
type numberOf struct{ versions.Version }

func (n *numberOf) UnmarshalYAML(node *yaml.Node) error {
	fields := struct{ Version, Commit string }{Version: node.Value}
	if node.Kind == yaml.MappingNode {
		if err := node.Decode(&fields); err != nil {
			return err
		}
	}
	v, err := versions.ParseNumber(fields.Version)
	n.Version, n.Commit = v, fields.Commit
	return err
}

func cases(t *testing.T) caseFile {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../..", "test/testdata/cases/ceph.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file caseFile
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

func embedded(t *testing.T) *versions.Table {
	t.Helper()
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// expectations compares the keys that the case expects with the outcome. A key that the outcome lacks fails.
func expectations(t *testing.T, c versionCase, got map[string]any) {
	t.Helper()
	want := c.Expect
	if c.Want != nil {
		want = c.Want
	}
	have := map[string]any{}
	for key := range want {
		have[key] = got[key]
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("(-case +ours)\n%s", diff)
	}
}

// parseDiffers are the cases whose outcome differs on purpose, with the reason: docs/decisions/0601-ceph-versions.md.
var parseDiffers = map[string]string{
	"round trip of own rendering": "a name without a commit is not reported by any binary, and is not part of the version",
	"render known release":        "a release is shown as Ceph shows it, without a build number 0",
	"render unknown release":      "a negative major cannot be parsed",
}

func TestParseOutputCases(t *testing.T) {
	table := embedded(t)
	for _, c := range cases(t).Parse {
		t.Run(c.Name, func(t *testing.T) {
			if reason, ok := parseDiffers[c.Name]; ok {
				t.Log("differs on purpose:", reason)
				return
			}
			v, err := versions.ParseOutput(c.Given.Text)
			got := map[string]any{"error": err != nil, "major": v.Major, "minor": v.Minor, "patch": v.Patch, "build": v.Build, "commit": v.Commit}
			if r, known := table.Release(v.Major); known {
				got["release"] = r.Name
			}
			expectations(t, c, got)
		})
	}
}

func TestVersionCompareCases(t *testing.T) {
	for _, c := range cases(t).Compare {
		t.Run(c.Name, func(t *testing.T) {
			a, b := c.Given.A.Version, c.Given.B.Version
			order := a.Compare(b)
			direction := map[int]string{-1: "up", 0: "same", 1: "down"}[order]
			expectations(t, c, map[string]any{
				"at_least": order >= 0, "superior": order > 0, "inferior": order < 0, "strictly_superior": order > 0, "strictly_superior_reversed": order < 0,
				"identical": a.Same(b), "equal": a.Same(b), "same_release": a.Major == b.Major, "changed": !a.Same(b), "direction": direction,
			})
		})
	}
}

// supportedNames are the names of the cases for the reasons here. The table of the cases begins with squid: an older version cannot
// be managed.
var supportedNames = map[transitions.Reason]string{versions.TooOld: "below_minimum", versions.Unsupported: "unsupported"}

func TestTablePermitCases(t *testing.T) {
	table, err := versions.Parse([]byte("default: ceph/ceph:v19.2.0\nuser: 167\nreleases:\n"+
		"- {major: 19, name: squid, supported: true, dashboard: https, mdsStandbys: upgrade}\n- {major: 20, name: tentacle, supported: true, dashboard: https, mdsStandbys: upgrade}\n"), "case")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases(t).Supported {
		t.Run(c.Name, func(t *testing.T) {
			if c.Given.Image != nil {
				if embedded(t).DefaultImage() != "ceph/ceph:v12.2.7" {
					t.Error("the default is not the image of the release before the versions were decoupled")
				}
				return
			}
			v, err := versions.ParseNumber(c.Given.Target)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]any{}
			if p := table.Permit(v, c.Given.AllowUnsupported); p != nil {
				got["error"] = supportedNames[p.Reason]
			} else {
				got["ok"] = true
				r, known := table.Release(v.Major)
				if !known || !r.Supported {
					got["warning"] = true
				}
			}
			expectations(t, c, got)
		})
	}
}

func TestParseOutputUnversioned(t *testing.T) {
	_, err := versions.ParseOutput("ceph version Development (no_version) squid (rc)")
	var unversioned *versions.UnversionedError
	if !errors.As(err, &unversioned) || unversioned.Release != "squid" {
		t.Errorf("%v", err)
	}
}
