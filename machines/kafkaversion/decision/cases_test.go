package decision_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/machines/kafkaversion/decision"
)

const repository = "../../.."

// caseFile is test/testdata/cases/kafka-version-change.yaml.
type caseFile struct {
	Meta struct {
		Fixtures struct {
			Versions []struct {
				Version   string
				Metadata  *string
				Supported bool
				Default   bool
			}
			UnknownHigh string `yaml:"unknown_high"`
			UnknownLow  string `yaml:"unknown_low"`
		}
	}
	Suites []struct {
		ID    string
		Cases []yaml.Node
	}
}

func readCases(t *testing.T) *caseFile {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, "test/testdata/cases/kafka-version-change.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file caseFile
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return &file
}

// casesOf decodes one suite.
func casesOf[T any](t *testing.T, file *caseFile, suite string) []T {
	t.Helper()
	for _, s := range file.Suites {
		if s.ID != suite {
			continue
		}
		cases := make([]T, len(s.Cases))
		for i, node := range s.Cases {
			if err := node.Decode(&cases[i]); err != nil {
				t.Fatal(err)
			}
		}
		return cases
	}
	t.Fatalf("no suite %s", suite)
	return nil
}

// table is the versions of the cases, and one above them all where a case needs
// something to come from or go to.
func (f *caseFile) table(t *testing.T, more ...string) *versions.Table {
	t.Helper()
	text := ""
	for _, v := range f.Meta.Fixtures.Versions {
		text += fmt.Sprintf("- {version: %s, supported: %t, default: %t", v.Version, v.Supported, v.Default)
		if v.Metadata != nil {
			text += fmt.Sprintf(", metadata: %q", *v.Metadata)
		}
		text += "}\n"
	}
	for _, row := range more {
		text += row + "\n"
	}
	return parseTable(t, text)
}

// elsewhere is a case where we decide otherwise on purpose.
type elsewhere struct{ reason, page string }

// deliberate holds the list of deliberate differences of one test to be exact.
type deliberate struct {
	listed map[string]elsewhere
	used   map[string]bool
}

func differencesOnPurpose(listed map[string]elsewhere) *deliberate {
	return &deliberate{listed: listed, used: map[string]bool{}}
}

// judge takes what differs between a case and what we do, "" for nothing.
func (d *deliberate) judge(t *testing.T, name, difference string) {
	t.Helper()
	listed, ok := d.listed[name]
	d.used[name] = true
	switch {
	case !ok && difference != "":
		t.Errorf("%s\nnot listed as a deliberate difference", difference)
	case ok && difference == "":
		t.Errorf("listed as a deliberate difference (%s), and is none", listed.reason)
	case ok:
		if _, err := os.Stat(filepath.Join(repository, "docs/decisions", listed.page)); err != nil {
			t.Errorf("the page that explains the difference: %v", err)
		}
		t.Logf("differs on purpose: %s\n%s", listed.reason, difference)
	}
}

// finish fails for a listed difference whose case is gone.
func (d *deliberate) finish(t *testing.T) {
	t.Helper()
	for name := range d.listed {
		if !d.used[name] {
			t.Errorf("listed as a deliberate difference, and no such case: %s", name)
		}
	}
}

// levelOf gives the level of a metadata version in a case, above every level for a
// release of the future.
func levelOf(t *testing.T, text string) int16 {
	t.Helper()
	m, err := versions.ParseMetadata(text)
	if err != nil {
		t.Fatal(err)
	}
	level, ok := m.Level()
	if !ok && m.Newer() {
		return versions.HighestMetadata + 100
	}
	if !ok {
		t.Fatalf("%s has no level", text)
	}
	return level
}

func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// A case has the content of the status. It runs once with Kafka agreeing, and once
// with Kafka silent; the outcome must be that of the case both times.
func bothWorlds(t *testing.T, s decision.Situation) map[string]decision.Decision {
	t.Helper()
	s.Finalized = silent()
	worlds := map[string]decision.Decision{"Kafka is silent": decision.Decide(s)}
	if s.RecordedMetadata != "" {
		s.Finalized = finalized(levelOf(t, s.RecordedMetadata))
		worlds["Kafka agrees"] = decision.Decide(s)
	}
	return worlds
}

// decided is what a case of the two decision suites expects.
type decided struct {
	From, To  string
	FromKnown *bool `yaml:"from_known"`
	Metadata  string
	Warns     bool    `yaml:"log_warning"`
	Condition *string // none: it is only logged
	Error     *struct{ Kind string }
}

// difference compares a decision with a case. Strimzi has no fresh install: what it
// calls "from the wanted version" without a pod is one.
func (want *decided) difference(t *testing.T, d decision.Decision) string {
	t.Helper()
	got := summary(d)
	if want.Error != nil {
		if d.Outcome == decision.OutcomeAllowed {
			return fmt.Sprintf("-an error\n+%+v", got)
		}
		return ""
	}
	if d.Outcome != decision.OutcomeAllowed {
		return fmt.Sprintf("-allowed\n+%s %s: %s", d.Outcome, d.Reason, d.Message)
	}
	from := got.From
	if d.Direction == decision.DirectionInstall {
		from = got.To
	}
	_, known := d.From.Row()
	switch wanted := levelOf(t, want.Metadata); {
	case want.From != "" && from != want.From:
		return fmt.Sprintf("-from %s\n+from %s", want.From, from)
	case want.To != "" && got.To != want.To:
		return fmt.Sprintf("-to %s\n+to %s", want.To, got.To)
	case want.FromKnown != nil && known != *want.FromKnown:
		return fmt.Sprintf("-from known: %t\n+from known: %t", *want.FromKnown, known)
	case got.Target != wanted:
		return fmt.Sprintf("-level %d\n+level %d", wanted, got.Target)
	case want.Warns && len(got.Warnings) == 0:
		return "-a warning\n+no warning"
	case text(want.Condition) == "none" && slices.Contains(got.Warnings, decision.ReasonMetadataVersionTooNew):
		return "-no condition\n+the warning MetadataVersionTooNew"
	}
	return ""
}

func TestDecideCasesOfTheMetadataRule(t *testing.T) {
	const page = "0101-levels-not-text.md"
	tooNew := elsewhere{"a wanted metadata version that is ignored is shown in the status, and not only logged", page}
	on := differencesOnPurpose(map[string]elsewhere{
		"no change with desired too new keeps the current one":           {tooNew.reason, tooNew.page},
		"no change with desired too new and no current uses the default": {tooNew.reason, tooNew.page},
		"downgrade without a recorded current falls back to the to version": {
			"the level is not guessed: the downgrade waits until it can be read", "0103-unreadable-levels.md"},
	})
	type ruleCase struct {
		Name  string
		Given struct {
			Rule, Kafka      string
			Current, Desired *string
		}
		Expect decided
	}
	file := readCases(t)
	// The rules consult one version; going up or down needs another one above it.
	const above = "4.4.0"
	table := file.table(t, "- {version: "+above+", supported: true, metadata: 4.4-IV2}")
	for _, c := range casesOf[ruleCase](t, file, "metadata-rule") {
		t.Run(c.Name, func(t *testing.T) {
			s := decision.Situation{Table: table, WantedVersion: c.Given.Kafka, WantedMetadata: text(c.Given.Desired),
				RecordedMetadata: text(c.Given.Current), Nodes: running(c.Given.Kafka)}
			switch c.Given.Rule {
			case "no-change":
			case "upgrade":
				s.WantedVersion = above
			case "downgrade":
				s.Nodes = running(above)
			default:
				t.Fatalf("unknown rule %q", c.Given.Rule)
			}
			for world, d := range bothWorlds(t, s) {
				on.judge(t, c.Name, inWorld(world, c.Expect.difference(t, d)))
			}
		})
	}
	on.finish(t)
}

func inWorld(world, difference string) string {
	if difference == "" {
		return ""
	}
	return world + ":\n" + difference
}

func TestDecideCasesOfTheVersionChange(t *testing.T) {
	on := differencesOnPurpose(nil)
	type changeCase struct {
		Name  string
		Given struct {
			Pods           []*string
			SpecVersion    *string `yaml:"spec_version"`
			SpecMetadata   *string `yaml:"spec_metadata"`
			StatusMetadata *string `yaml:"status_metadata"`
		}
		Expect decided
	}
	file := readCases(t)
	table := file.table(t)
	for _, c := range casesOf[changeCase](t, file, "version-change") {
		t.Run(c.Name, func(t *testing.T) {
			pods := make([]string, len(c.Given.Pods))
			for i, p := range c.Given.Pods {
				pods[i] = text(p)
			}
			s := decision.Situation{Table: table, WantedVersion: text(c.Given.SpecVersion), WantedMetadata: text(c.Given.SpecMetadata),
				RecordedMetadata: text(c.Given.StatusMetadata), Nodes: adopted(pods...)}
			for world, d := range bothWorlds(t, s) {
				on.judge(t, c.Name, inWorld(world, c.Expect.difference(t, d)))
			}
		})
	}
	on.finish(t)
}
