package decision_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
	"github.com/detent-dev/detent/test/cases"
	"github.com/detent-dev/detent/transitions"
)

// commit is a version with or without its commit.
type commit struct{ versions.Version }

func (v *commit) UnmarshalYAML(node *yaml.Node) error {
	fields := struct{ Version, Commit string }{Version: node.Value}
	if node.Kind == yaml.MappingNode {
		if err := node.Decode(&fields); err != nil {
			return err
		}
	}
	return v.read(fields.Version + " " + fields.Commit)
}

func (v *commit) read(text string) (err error) {
	text, v.Commit, _ = strings.Cut(text, " ")
	of := v.Commit
	v.Version, err = versions.ParseNumber(text)
	v.Commit = of
	return err
}

// running is an image, and what the daemons run.
type running struct {
	Image    commit
	Overall  map[string]int
	Versions string `yaml:"versions_command"`
}

func (r *running) decide(t *testing.T) decision.Decision {
	t.Helper()
	s := cluster("19.2.0", "19.2.0")
	s.Wanted.Version = r.Image.Version
	texts := slices.Sorted(maps.Keys(r.Overall))
	for i := range s.Daemons {
		var v commit
		if err := v.read(texts[i%len(texts)]); err != nil {
			t.Fatal(err)
		}
		s.Daemons[i].Runs, s.Daemons[i].Newest = v.Version, v.Version
	}
	return decision.Decide(s)
}

func TestDecideImageCases(t *testing.T) {
	better := map[string]cases.Better{
		"two versions running":     {Outcome: cases.Outcome{"hold": "PolicyRemoved"}, Page: "0603", Reason: "a daemon is newer than the image: none is moved back, and the admin decides"},
		"image lower than running": {Outcome: cases.Outcome{"upgrade": true, "warning": "downgrade"}, Page: "0603", Reason: "a downgrade within a major is permitted with a warning while no daemon was ever started on a newer major"},
	}
	cases.Run(t, cases.Ceph[running](t, "image_vs_running"), better, func(t *testing.T, row *cases.Row[running]) cases.Outcome {
		if len(row.Given.Overall) == 0 {
			return silent(t)
		}
		d := row.Given.decide(t)
		switch d.Outcome {
		case decision.Held:
			return cases.Outcome{"hold": string(d.Problem.Reason)}
		case decision.Refused:
			return cases.Outcome{"reject": strings.ToLower(string(d.Problem.Reason))}
		case decision.Permitted, decision.Undecided:
		}
		out := cases.Outcome{"upgrade": !d.To.IsZero()}
		for _, w := range d.Warnings {
			out["warning"] = strings.ToLower(string(w.Reason))
		}
		return out
	})
}

// silent is what the lifecycle does while what the daemons run cannot be read: neither of its transitions from rest is taken.
func silent(t *testing.T) cases.Outcome {
	t.Helper()
	domain, err := cephupgrade.Domain()
	if err != nil {
		t.Fatal(err)
	}
	f := domain.Base()
	f.Cluster = transitions.Unreadable[cephupgrade.Cluster](fmt.Errorf("the answer has no overall"))
	definition := cephupgrade.Definition()
	for i := range definition.Transitions {
		row := &definition.Transitions[i]
		if row.From == cephupgrade.Settled && row.To == cephupgrade.Preflight && row.When.Verdict(&f, cephupgrade.Data{}).Answer == transitions.Unknown {
			return cases.Outcome{"state": "Unknown", "action": "wait"}
		}
	}
	return cases.Outcome{}
}

// full are the versions that the cases name by their major.
var full = map[int]string{14: "14.2.21", 16: "16.2.15", 18: "18.2.7"}

// rollback is a daemon that ran a newer release, and an image of an older one.
type rollback struct {
	Daemon   string
	Path     []int
	Others   int
	Required string
}

// TestDecideRollbackCases permits no way back to an older release, also not where real daemons could still be started on it: whether they
// could depends on the moment and on the store. What daemons do is in simulator/ceph.
func TestDecideRollbackCases(t *testing.T) {
	for _, row := range cases.Ceph[rollback](t, "rollback") {
		t.Run(row.Name, func(t *testing.T) {
			path, others := row.Given.Path, max(row.Given.Others, row.Given.Path[0])
			s := cluster(full[others], full[path[2]], on(full[path[1]], row.Given.Daemon))
			if row.Given.Others == path[1] {
				kind, _, _ := strings.Cut(row.Given.Daemon, ".")
				on(full[path[1]], kind)(&s)
			}
			if d := decision.Decide(s); d.Outcome != decision.Held && d.Outcome != decision.Refused {
				t.Errorf("%s: %+v", d.Outcome, d)
			}
		})
	}
}
