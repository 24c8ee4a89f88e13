package decision_test

import (
	"os"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/detent-dev/detent/machines/cephupgrade/decision"
)

// runningDiffers are the cases whose outcome differs on purpose, with the reason: docs/decisions/0603-which-ceph-versions-may-change.md.
var runningDiffers = map[string]string{
	"two versions running":         "a daemon is newer than the image: none is moved back, and the admin decides",
	"mon before full quorum 14-16": "that an older release could still use the data depends on the moment, and is not relied upon",
	"osd memstore 16-18":           "that an older release could still use the data depends on the store, and is not relied upon",
}

// runningCase is a cluster of which some daemons run another version than the others, and an image for all of them.
type runningCase struct {
	Name  string
	Given struct {
		Image, Others, Runs string
		Running             map[string]string
		Daemons             []string
	}
	Expect struct{ Upgrade, Warning, Works bool }
}

func (c *runningCase) decide() decision.Decision {
	s := cluster(c.Given.Others, c.Given.Image)
	if c.Given.Runs != "" {
		on(c.Given.Runs, c.Given.Daemons...)(&s)
	}
	for name, text := range c.Given.Running {
		on(text, name)(&s)
	}
	return decision.Decide(s)
}

func runningCases(t *testing.T) (images, rollbacks []runningCase) {
	t.Helper()
	data, err := os.ReadFile("../../../test/testdata/cases/ceph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Images   []runningCase `yaml:"image_vs_running"`
		Rollback []runningCase
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Images) == 0 || len(file.Rollback) == 0 {
		t.Fatal("the file has no cases")
	}
	return file.Images, file.Rollback
}

func TestDecideImageCases(t *testing.T) {
	images, _ := runningCases(t)
	for i := range images {
		c := &images[i]
		t.Run(c.Name, func(t *testing.T) {
			d := c.decide()
			if reason, differs := runningDiffers[c.Name]; differs {
				t.Log("differs on purpose:", reason)
				if d.Outcome == decision.Permitted {
					t.Error("it is permitted")
				}
				return
			}
			if d.Outcome != decision.Permitted || d.To.IsZero() == c.Expect.Upgrade || len(d.Warnings) > 0 != c.Expect.Warning {
				t.Errorf("%s to %q with %v: %+v", d.Outcome, d.To, d.Warnings, d.Problem)
			}
		})
	}
}

// TestDecideRollbackCases permits no way back to an older release, also not where real daemons could still be started on it.
func TestDecideRollbackCases(t *testing.T) {
	_, rollbacks := runningCases(t)
	for i := range rollbacks {
		c := &rollbacks[i]
		t.Run(c.Name, func(t *testing.T) {
			if _, differs := runningDiffers[c.Name]; differs != c.Expect.Works {
				t.Fatal("a case that works differs on purpose, and no other one does")
			}
			if d := c.decide(); d.Outcome != decision.Held && d.Outcome != decision.Refused {
				t.Errorf("%s: %+v", d.Outcome, d)
			}
		})
	}
}
