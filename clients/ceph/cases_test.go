package ceph_test

import (
	"os"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/detent-dev/detent/clients/ceph"
)

func TestPGsCleanCases(t *testing.T) {
	data, err := os.ReadFile("../../test/testdata/cases/ceph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Clean []struct {
			Name  string
			Given struct {
				Total  int `yaml:"num_pgs"`
				States map[string]int
			}
			Expect struct{ Clean bool }
		} `yaml:"pg_clean"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Clean) == 0 {
		t.Fatal("the file has no cases")
	}
	for _, c := range file.Clean {
		t.Run(c.Name, func(t *testing.T) {
			if got, why := (ceph.PGs{Total: c.Given.Total, States: c.Given.States}).Clean(); got != c.Expect.Clean {
				t.Errorf("%v: %s", got, why)
			}
		})
	}
}
