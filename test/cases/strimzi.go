package cases

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"
)

// Difference is the outcome of this operator for a row where it is deliberately another one.
type Difference[E any] struct {
	// Want is the outcome of this operator.
	Want E
	// Why is the reason.
	Why string
	// Page is the number of the page in docs/decisions that explains it.
	Page string
}

// strimziRow is one case. Given and Expect are explained by their suite.
type strimziRow struct {
	Name   string          `json:"name"`
	Origin string          `json:"origin"`
	Given  json.RawMessage `json:"given"`
	Expect json.RawMessage `json:"expect"`
}

type strimziFile struct {
	Suites []struct {
		ID    string       `json:"id"`
		About string       `json:"about"`
		Cases []strimziRow `json:"cases"`
	} `json:"suites"`
}

// Failure is true for a row that expects an error. The class and the text of the error are not compared.
type Failure bool

// UnmarshalJSON accepts every description of an error.
func (f *Failure) UnmarshalJSON(text []byte) error {
	*f = string(text) != "null"
	return nil
}

// RunStrimzi runs every row of a suite of what Strimzi does as a subtest. A row fails until this operator has the same outcome, or until it
// is listed with the outcome that this operator has instead. observe returns the outcome of this operator for what is given; fields of a row that
// neither type has fail the test.
func RunStrimzi[G, E any](t *testing.T, name, suite string, differences map[string]Difference[E], observe func(t *testing.T, given G, expected E) E) {
	t.Helper()
	used := map[string]bool{}
	for _, r := range strimziRows(t, name, suite) {
		difference, differs := differences[r.Name]
		used[r.Name] = true
		t.Run(r.Name, func(t *testing.T) {
			var given G
			var want E
			decode(t, r.Given, &given)
			decode(t, r.Expect, &want)
			got := observe(t, given, want)
			if !differs {
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("outcome, which is not listed as a deliberate difference (-want +got):\n%s", diff)
				}
				return
			}
			difference.check(t, want, got)
		})
	}
	for name := range differences {
		if !used[name] {
			t.Errorf("listed as a deliberate difference, and no such case: %s", name)
		}
	}
}

func (d *Difference[E]) check(t *testing.T, expected, got E) {
	t.Helper()
	if cmp.Equal(expected, got, cmpopts.EquateEmpty()) {
		t.Errorf("listed as a deliberate difference (%s), and is none", d.Why)
	}
	if diff := cmp.Diff(d.Want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("outcome that differs deliberately: %s (-want +got):\n%s", d.Why, diff)
	}
	checkPage(t, d.Page, d.Why)
}

func strimziRows(t *testing.T, name, suite string) []strimziRow {
	t.Helper()
	data, err := os.ReadFile(repository("test", "testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	var f strimziFile
	if err := yaml.UnmarshalStrict(data, &f); err != nil {
		t.Fatalf("reading %s: %v", name, err)
	}
	for _, s := range f.Suites {
		if s.ID == suite && len(s.Cases) > 0 {
			return s.Cases
		}
	}
	t.Fatalf("%s has no suite %s, or one without cases", name, suite)
	return nil
}

func decode(t *testing.T, text json.RawMessage, into any) {
	t.Helper()
	if len(text) == 0 {
		return
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("the row has something that is not known here: %v", err)
	}
}
