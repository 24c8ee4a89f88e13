package ceph_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/test/cases"
)

func TestPGsCleanCases(t *testing.T) {
	type given struct {
		Total   int `yaml:"num_pgs"`
		States  map[string]int
		Pattern string
	}
	// What is clean is no setting: a pattern that fits too much would permit to stop OSDs whose data has no other copy.
	cases.Run(t, cases.Ceph[given](t, "pg_clean"), nil, func(_ *testing.T, row *cases.Row[given]) cases.Outcome {
		clean, _ := ceph.PGs{Total: row.Given.Total, States: row.Given.States}.Clean()
		return cases.Outcome{"clean": clean}
	})
}

// TestRunningLeastCases reads the answer to versions, and repeats it: the order of a map must not matter.
func TestRunningLeastCases(t *testing.T) {
	type given struct {
		Of      map[string]map[string]int `yaml:",inline"`
		Repeats int
		Type    string
	}
	better := map[string]cases.Better{
		"unknown type": {Outcome: cases.Outcome{"least": "zero", "error": false}, Page: "0602", Reason: "a type is no text of a user: of one that does not exist no daemon runs"},
	}
	cases.Run(t, cases.Ceph[given](t, "least_version"), better, func(t *testing.T, row *cases.Row[given]) cases.Outcome {
		var types []ceph.Type
		if row.Given.Type != "" {
			types = append(types, ceph.Type(row.Given.Type))
		}
		for name := range row.Given.Of {
			types = append(types, ceph.Type(name))
		}
		seen := map[string]bool{}
		for range max(row.Given.Repeats, 1) {
			running, err := ceph.Client{Runner: &fixed{result: ceph.Result{Stdout: versionsOf(t, row.Given.Of)}}}.Versions(t.Context())
			if err != nil {
				return cases.Outcome{"error": true}
			}
			least, found := running.Least(types...)
			if !found {
				return cases.Outcome{"least": "zero", "error": false}
			}
			seen[least.String()] = true
		}
		out := cases.Outcome{"stable": len(seen) == 1, "error": false}
		for text := range maps.Keys(seen) {
			out["least"] = text
		}
		return out
	})
}

var number = regexp.MustCompile(`^\d`)

// versionsOf is the answer to versions of daemons that run what a case says.
func versionsOf(t *testing.T, of map[string]map[string]int) []byte {
	t.Helper()
	answer := map[string]map[string]int{"mon": {}, "overall": {}}
	for kind, counts := range of {
		answer[kind] = map[string]int{}
		for text, count := range counts {
			if number.MatchString(text) {
				text = fmt.Sprintf("ceph version %s-g7ba (c1) tentacle (dev)", text)
			}
			answer[kind][text] = count
		}
	}
	data, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
