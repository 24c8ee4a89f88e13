package health_test

import (
	"os"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/machines/cephupgrade/health"
	"github.com/detent-dev/detent/transitions"
)

// gateDiffers are the cases whose outcome differs on purpose, with the reason: docs/decisions/0604-order-of-a-ceph-upgrade.md.
var gateDiffers = map[string]string{
	"warning passes": "the codes are judged, and never the status: a warning may be an OSD that is down",
}

func TestGateEntryCases(t *testing.T) {
	data, err := os.ReadFile("../../../test/testdata/cases/ceph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Gate []struct {
			Name  string
			Given struct {
				Health, Replacing string
				Codes             []string
				Muted             bool
			}
			Expect struct{ Healthy bool }
		} `yaml:"entry_health_gate"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Gate) == 0 {
		t.Fatal("the file has no cases")
	}
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Gate {
		t.Run(c.Name, func(t *testing.T) {
			severity := ceph.HealthWarn
			if c.Given.Health == ceph.HealthErr {
				severity = ceph.HealthErr
			}
			h := ceph.Health{Status: c.Given.Health}
			for _, code := range c.Given.Codes {
				h.Checks = append(h.Checks, ceph.Check{Code: code, Severity: severity, Muted: c.Given.Muted})
			}
			gate := health.Gate{Table: table, Major: 18, Component: ceph.Type(c.Given.Replacing), Replacing: c.Given.Replacing != ""}
			want, got := c.Expect.Healthy, gate.Verdict(h)
			if reason, differs := gateDiffers[c.Name]; differs {
				t.Log("differs on purpose:", reason)
				want = !want
			}
			if (got.Answer == transitions.Yes) != want {
				t.Errorf("%s: %s, want healthy %t", got.Answer, got.Observed, want)
			}
		})
	}
}
