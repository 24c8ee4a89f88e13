package decision_test

import (
	"fmt"
	"testing"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
)

// cluster is the least of a world that a decision can be carried out in: nodes that
// take the version they are given, and one finalized level.
type cluster struct {
	table                     *versions.Table
	wantedVersion, wantedMeta string
	nodes                     []decision.NodeVersions
	level                     int16
	statusVersion             string
	statusMetadata            string
	// answers is whether Kafka says its level, refuses whether it refuses another.
	silent, refuses bool
	asked           []decision.MetadataPlan
}

func (c *cluster) decide() decision.Decision {
	s := decision.Situation{Table: c.table, WantedVersion: c.wantedVersion, WantedMetadata: c.wantedMeta, Nodes: c.nodes,
		RecordedVersion: c.statusVersion, RecordedMetadata: c.statusMetadata, Finalized: silent()}
	if c.level != 0 && !c.silent {
		s.Finalized = finalized(c.level)
	}
	return decision.Decide(s)
}

// reconcile decides once and carries it out: the binaries, or the metadata, never both.
func (c *cluster) reconcile(t *testing.T) {
	t.Helper()
	d := c.decide()
	if d.Outcome != decision.OutcomeAllowed {
		t.Fatalf("%s: %s", d.Outcome, d.Message)
	}
	if d.Direction == decision.DirectionInstall {
		c.level = d.Metadata.Target
		c.nodes = running("", "", "")
	}
	for i := range c.nodes {
		c.nodes[i].Runs, c.nodes[i].LastStarted = d.To.String(), d.To.String()
	}
	c.statusVersion = d.To.String()
	if p := d.Metadata; p.Step == decision.MetadataRaise || p.Step == decision.MetadataLower {
		c.asked = append(c.asked, p)
		if !c.refuses {
			c.level = p.Target
		}
	}
	if c.silent {
		return
	}
	c.statusMetadata, _ = versions.MetadataName(c.level)
}

// The suite's runs against a mocked cluster, as far as the decision carries them.
// What it does not carry is the machine's to test: the roll itself, node pools, and
// the conditions of a refused request.
func TestDecideCasesOfTheLifecycle(t *testing.T) {
	beyond := map[string]string{
		"add and remove a pool sharing an id range": "node ids are assigned elsewhere; no version is decided",
	}
	type step struct {
		Version, Metadata *string
		StatusMetadata    *string `yaml:"status_metadata"`
		Pods              *string
	}
	type lifecycleCase struct {
		Name  string
		Given struct {
			Start *step
			Steps []map[string]any
		}
		Expect struct {
			After []struct {
				KafkaVersion         string `yaml:"kafkaVersion"`
				KafkaMetadataVersion string `yaml:"kafkaMetadataVersion"`
				Pods                 *string
			}
		}
	}
	file := readCases(t)
	for _, c := range casesOf[lifecycleCase](t, file, "lifecycle") {
		t.Run(c.Name, func(t *testing.T) {
			if reason, ok := beyond[c.Name]; ok {
				if c.Given.Start != nil {
					t.Fatalf("left out (%s), and yet it starts with a version", reason)
				}
				return
			}
			world := &cluster{table: file.table(t), wantedVersion: text(c.Given.Start.Version), wantedMeta: text(c.Given.Start.Metadata)}
			for i, after := range c.Expect.After {
				if i > 0 {
					world.edit(c.Given.Steps[i-1])
				}
				world.reconcile(t)
				if i == 0 {
					// A fresh install takes one more look to see that it is at rest.
					world.reconcile(t)
				}
				got := fmt.Sprintf("%s at %d", world.statusVersion, world.level)
				if want := fmt.Sprintf("%s at %d", after.KafkaVersion, levelOf(t, after.KafkaMetadataVersion)); got != want {
					t.Fatalf("after step %d: %s, want %s", i, got, want)
				}
				for _, n := range world.nodes {
					if after.Pods != nil && n.Runs != *after.Pods {
						t.Errorf("pod %s carries %s, want %s", n.Name, n.Runs, *after.Pods)
					}
				}
			}
		})
	}
}

// edit takes over what a step gives; a field that it gives as null is removed.
func (c *cluster) edit(step map[string]any) {
	take := func(key string, into *string) {
		if value, ok := step[key]; ok {
			*into, _ = value.(string)
		}
	}
	take("version", &c.wantedVersion)
	take("metadata", &c.wantedMeta)
	take("status_metadata", &c.statusMetadata)
	if pods, ok := step["pods"].(string); ok {
		for i := range c.nodes {
			c.nodes[i].Runs, c.nodes[i].LastStarted = pods, pods
		}
	}
}

// The suite about the request to Kafka, as far as the decision carries it: which
// level is asked for, and that nothing is asked without knowing where Kafka is. The
// number of calls and the condition after a refusal are the machine's to test.
func TestDecideCasesOfTheMetadataManager(t *testing.T) {
	on := differencesOnPurpose(map[string]elsewhere{
		"failure to read the current level fails the reconcile": {
			"only the metadata step waits: nodes that run the desired version are no failure", "0103-unreadable-levels.md"},
	})
	type managerCase struct {
		Name  string
		Given struct {
			ClusterLevel int16  `yaml:"cluster_level"`
			Desired      string `yaml:"desired"`
			Update       string
			Describe     string
		}
		Expect struct {
			StatusMetadata *string `yaml:"status_metadata"`
			UpdateType     string  `yaml:"update_type"`
			UpdateLevel    int16   `yaml:"update_level"`
			Calls          struct{ Update int }
			Error          *struct{ Kind string }
		}
	}
	file := readCases(t)
	for _, c := range casesOf[managerCase](t, file, "metadata-manager") {
		t.Run(c.Name, func(t *testing.T) {
			world := &cluster{table: file.table(t), wantedMeta: c.Given.Desired, nodes: running("4.3.1", "4.3.1", "4.3.1"),
				level: c.Given.ClusterLevel, silent: c.Given.Describe != "", refuses: c.Given.Update != "" && c.Given.Update != "ok"}
			if d := world.decide(); (d.Outcome != decision.OutcomeAllowed) != (c.Expect.Error != nil) {
				on.judge(t, c.Name, fmt.Sprintf("-error %v\n+%s, step %s", c.Expect.Error, d.Outcome, d.Metadata.Step))
			} else {
				on.judge(t, c.Name, "")
			}
			world.reconcile(t)
			if len(world.asked) != c.Expect.Calls.Update {
				t.Fatalf("asked %d times, want %d", len(world.asked), c.Expect.Calls.Update)
			}
			if len(world.asked) > 0 && c.Expect.UpdateLevel != 0 {
				want := map[string]decision.MetadataStep{"UPGRADE": decision.MetadataRaise, "SAFE_DOWNGRADE": decision.MetadataLower}
				if got := world.asked[0]; got.Target != c.Expect.UpdateLevel || got.Step != want[c.Expect.UpdateType] {
					t.Errorf("asked to %s to %d, want %s to %d", got.Step, got.Target, c.Expect.UpdateType, c.Expect.UpdateLevel)
				}
			}
			if world.statusMetadata != text(c.Expect.StatusMetadata) {
				t.Errorf("status %q, want %q", world.statusMetadata, text(c.Expect.StatusMetadata))
			}
			if d := world.decide(); world.refuses && (d.Outcome != decision.OutcomeAllowed || d.Settled()) {
				t.Errorf("after the refusal: %s, settled %t; want it to go on, unsettled", d.Outcome, d.Settled())
			}
		})
	}
	on.finish(t)
}
