package connecttest_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/clients/connect/connecttest"
)

// restated are the behaviours that restate the cases connect- of test/testdata/cases/offsets.yaml.
var restated = map[string][]string{
	"connect-alter-unknown-connector":                      {"altering an unknown connector"},
	"connect-alter-running-or-paused":                      {"altering a running connector", "altering a paused connector"},
	`connect-alter-body {}`:                                {"altering: an empty object"},
	`connect-alter-body {"key": []}`:                       {"altering: an unknown field"},
	`connect-alter-body {"offsets": {}}`:                   {"altering: an object for the list"},
	`connect-alter-body {"offsets": [123]}`:                {"altering: a number in the list"},
	`connect-alter-body {"offsets": [{"partition": []]}]}`: {"altering: broken JSON"},
	"connect-alter-null-offset":                            {"null forgets one partition, which is mirrored from the beginning"},
	"connect-alter-partial":                                {"a partition that is not named keeps its offset, and records from the next one are replayed"},
	"connect-mm2-source-negative-offset":                   {"altering: a negative offset"},
	"connect-mm2-checkpoint-nonzero-offset":                {"altering: an offset of a checkpoint connector", "altering: an offset of a heartbeat connector"},
	"connect-mm2-source-wrong-cluster-alias":               {"altering: another cluster"},
	"connect-mm2-source-resume-position": {
		"a partition that is not named keeps its offset, and records from the next one are replayed",
		"null forgets one partition, which is mirrored from the beginning",
	},
}

// omitted are the cases without a behaviour, with the reason.
var omitted = map[string]string{"connect-alter-sink-zombie": "MirrorMaker 2 has no sink connector"}

// TestBehavioursRestateCases checks that each case is a row of the table, with the same code of Connect.
func TestBehavioursRestateCases(t *testing.T) {
	data, err := os.ReadFile("../../../test/testdata/cases/offsets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name   string `json:"name"`
			Expect struct {
				Code int `json:"code"`
			} `json:"expect"`
		} `json:"cases"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	rows, found := connecttest.Behaviours(), 0
	for _, c := range file.Cases {
		if !strings.HasPrefix(c.Name, "connect-") {
			continue
		}
		found++
		if len(restated[c.Name]) == 0 && omitted[c.Name] == "" {
			t.Errorf("no behaviour restates %s", c.Name)
		}
		want := c.Expect.Code
		if want == http.StatusOK {
			want = 0
		}
		for _, name := range restated[c.Name] {
			switch i := slices.IndexFunc(rows, func(b connecttest.Behaviour) bool { return b.Name == name }); {
			case i < 0:
				t.Errorf("%s: there is no behaviour %q", c.Name, name)
			case rows[i].Want.Code != want:
				t.Errorf("%s: %q wants code %d, the case %d", c.Name, name, rows[i].Want.Code, want)
			}
		}
	}
	if want := len(restated) + len(omitted); found != want {
		t.Errorf("the file has %d cases of Connect, want %d", found, want)
	}
}
