package plan_test

import (
	"bytes"
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/crds/admission"
	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/kinds/kafka/planning"
	"github.com/detent-dev/detent/test/golden"
)

// embedded are the schemas of the operator's kinds. Every test of the package shares them: to compile them takes longer than most plans.
var embedded = sync.OnceValues(admission.Embedded)

// readInput reads the input of a plan.
func readInput(kinds []plan.Kind, found []objects.Manifest) (plan.Input, error) {
	schemas, err := embedded()
	if err != nil {
		return plan.Input{}, err
	}
	return plan.Read(context.Background(), schemas, kinds, found)
}

// kafkas returns the kinds of these plans.
func kafkas() []plan.Kind {
	kind, err := planning.New(planning.Options{Finalizing: observation.FinalizeAutomatically})
	if err != nil {
		panic(err)
	}
	return []plan.Kind{kind}
}

// make plans the input of a file.
func planOf(t *testing.T, file string) *plan.Plan {
	t.Helper()
	found, err := objects.Read([]string{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := readInput(kafkas(), found)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Make(context.Background(), in, plan.Options{OperatorVersion: "0.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// withoutContents leaves out what objects hold, which is the renderer's to test and would bury the rest.
func withoutContents(p *plan.Plan) *plan.Plan {
	for i := range p.Objects {
		for j := range p.Objects[i].Writes {
			p.Objects[i].Writes[j].Content = "..."
		}
	}
	return p
}

// digest of a graph, which changes with every change of its machine.
var digest = regexp.MustCompile(`@sha256:[0-9a-f]{8}`)

func TestMakeSituations(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			p := planOf(t, file)
			golden.Compare(t, strings.TrimSuffix(file, ".yaml")+".txt", p.Text(plan.TextOptions{}))
			content, err := withoutContents(p).JSON()
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, strings.TrimSuffix(file, ".yaml")+".json", digest.ReplaceAllString(string(content), "@sha256:..."))
		})
	}
}

func TestMakeIsDeterministic(t *testing.T) {
	for _, file := range []string{"testdata/cases/upgrade-separate-roles.yaml", "testdata/cases/snapshot-wait.yaml"} {
		first, err := planOf(t, file).JSON()
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			again, err := planOf(t, file).JSON()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(first, again) {
				t.Fatalf("%s: two plans differ:\n%s", file, cmp.Diff(string(first), string(again)))
			}
		}
	}
}
