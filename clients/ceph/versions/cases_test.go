package versions_test

import (
	"errors"
	"fmt"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/test/cases"
	"github.com/detent-dev/detent/transitions"
)

// given of a case. Where a case has a want, it is the outcome here.
type given struct {
	Text, Version, Minimum, Target string
	Major                          int
	A, B                           numberOf
	AllowUnsupported               bool `yaml:"allowUnsupported"`
	Image                          *string
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

func embedded(t *testing.T) *versions.Table {
	t.Helper()
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestParseOutputCases(t *testing.T) {
	table := embedded(t)
	better := map[string]cases.Better{
		"render known release":   {Outcome: cases.Outcome{"render": "19.0.0 squid", "release": "squid"}, Page: "0601", Reason: "a version is shown without a build number of zero, as Ceph shows it"},
		"render unknown release": {Outcome: cases.Outcome{"error": true}, Page: "0601", Reason: "a negative major is no version"},
	}
	cases.Run(t, cases.Ceph[given](t, "version_parse"), better, func(_ *testing.T, row *cases.Row[given]) cases.Outcome {
		v, err := versions.ParseOutput(row.Given.Text)
		switch {
		case row.Given.Version != "":
			v, err = versions.ParseNumber(row.Given.Version)
		case row.Given.Major != 0:
			v, err = versions.ParseNumber(fmt.Sprintf("%d.0.0", row.Given.Major))
		}
		got := cases.Outcome{"error": err != nil, "major": v.Major, "minor": v.Minor, "patch": v.Patch, "build": v.Build, "commit": v.Commit}
		if r, known := table.Release(v.Major); known {
			got["release"], got["render"] = r.Name, table.Describe(v)
		}
		return got
	})
}

func TestVersionCompareCases(t *testing.T) {
	cases.Run(t, cases.Ceph[given](t, "version_compare"), nil, func(_ *testing.T, row *cases.Row[given]) cases.Outcome {
		a, b := row.Given.A.Version, row.Given.B.Version
		order := a.Compare(b)
		direction := map[int]string{-1: "up", 0: "same", 1: "down"}[order]
		return cases.Outcome{
			"at_least": order >= 0, "superior": order > 0, "inferior": order < 0, "strictly_superior": order > 0, "strictly_superior_reversed": order < 0,
			"identical": a.Same(b), "equal": a.Same(b), "same_release": a.Major == b.Major, "changed": !a.Same(b), "direction": direction,
		}
	})
}

// TestTablePermitCases decides by a table that begins with squid, as that of the cases does: an older version cannot be managed.
func TestTablePermitCases(t *testing.T) {
	table, err := versions.Parse([]byte("default: ceph/ceph:v19.2.0\nuser: 167\nreleases:\n"+
		"- {major: 19, name: squid, supported: true, dashboard: https, mdsStandbys: upgrade}\n- {major: 20, name: tentacle, supported: true, dashboard: https, mdsStandbys: upgrade}\n"), "case")
	if err != nil {
		t.Fatal(err)
	}
	names := map[transitions.Reason]string{versions.TooOld: "below_minimum", versions.Unsupported: "unsupported"}
	// That the default changes no cluster that exists is shown by TestKindWithoutAVersion of controllers/ceph.
	better := map[string]cases.Better{"default when no version given": {
		Outcome: cases.Outcome{"image": "ceph/ceph:v12.2.7"}, Page: "0601", Reason: "the default is the image of the release before the versions were decoupled",
	}}
	cases.Run(t, cases.Ceph[given](t, "version_supported"), better, func(t *testing.T, row *cases.Row[given]) cases.Outcome {
		if row.Given.Image != nil {
			return cases.Outcome{"image": embedded(t).DefaultImage()}
		}
		v, err := versions.ParseNumber(row.Given.Target)
		if err != nil {
			t.Fatal(err)
		}
		if p := table.Permit(v, row.Given.AllowUnsupported); p != nil {
			return cases.Outcome{"error": names[p.Reason]}
		}
		got := cases.Outcome{"ok": true}
		if r, known := table.Release(v.Major); !known || !r.Supported {
			got["warning"] = true
		}
		return got
	})
}

func TestParseOutputUnversioned(t *testing.T) {
	_, err := versions.ParseOutput("ceph version Development (no_version) squid (rc)")
	var unversioned *versions.UnversionedError
	if !errors.As(err, &unversioned) || unversioned.Release != "squid" {
		t.Errorf("%v", err)
	}
}
