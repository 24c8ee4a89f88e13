package decision_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
)

// full are the versions that the cases name by their major.
var full = map[int]string{16: "16.2.15", 18: "18.2.7"}

// TestDecideComponentsCases compares the targets of each type with test/testdata/cases/ceph.yaml.
func TestDecideComponentsCases(t *testing.T) {
	data, err := os.ReadFile("../../../test/testdata/cases/ceph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Components []struct {
			Name  string
			Given struct {
				Version          int `yaml:"cephVersion"`
				Policy           int `yaml:"policyVersion"`
				Components, Done []string
			}
			Expect struct {
				Mon, Mgr, OSD, RGW, MDS int
				Reject                  string
				Missing                 []string
			}
			Want struct{ Hold string }
		}
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Components) == 0 {
		t.Fatal("the file has no cases")
	}
	for _, c := range file.Components {
		t.Run(c.Name, func(t *testing.T) {
			s := cluster(full[c.Given.Version], full[c.Given.Version], on(full[18], c.Given.Done...))
			if c.Given.Policy != 0 {
				var types []ceph.Type
				for _, name := range c.Given.Components {
					types = append(types, ceph.Type(name))
				}
				policy(full[c.Given.Policy], types...)(&s)
			}
			d := decision.Decide(s)
			switch {
			case c.Want.Hold != "":
				if d.Outcome != decision.Held || string(d.Problem.Reason) != c.Want.Hold {
					t.Errorf("%s, %+v, want %s", d.Outcome, d.Problem, c.Want.Hold)
				}
				return
			case c.Expect.Reject != "":
				if d.Outcome != decision.Refused || string(d.Problem.Reason) != c.Expect.Reject || !strings.Contains(d.Problem.Message, strings.Join(c.Expect.Missing, ", ")) {
					t.Errorf("%s, %+v, want %s", d.Outcome, d.Problem, c.Expect.Reject)
				}
				return
			}
			got := map[ceph.Type]int{}
			for _, one := range s.Daemons {
				if got[one.Name.Type] = one.Runs.Major; d.Targets[one.Name.Type].Version.Major != 0 {
					got[one.Name.Type] = d.Targets[one.Name.Type].Version.Major
				}
			}
			e := &c.Expect
			want := map[ceph.Type]int{ceph.TypeMon: e.Mon, ceph.TypeMgr: e.Mgr, ceph.TypeOSD: e.OSD, ceph.TypeRGW: e.RGW, ceph.TypeMDS: e.MDS}
			if diff := cmp.Diff(want, got); diff != "" || d.Outcome != decision.Permitted {
				t.Errorf("%s %s (-want +got):\n%s", d.Outcome, fmt.Sprint(d.Problem), diff)
			}
		})
	}
}
