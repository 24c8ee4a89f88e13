// Package behaviour runs the suites of test/testdata/cases, which describe the behaviour of an established operator as data, and
// holds the list of the deliberate differences to be exact.
//
// A row that is added to a suite runs at once. It fails until this operator has the same outcome, or until the row is listed with
// the outcome that this operator has instead, the reason, and the page of docs/decisions or the guard that decides it.
package behaviour

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
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
	// Page is the name of the page in docs/decisions that explains it.
	Page string
}

// row is one case. Given and Expect are explained by their suite.
type row struct {
	Name   string          `json:"name"`
	Origin string          `json:"origin"`
	Given  json.RawMessage `json:"given"`
	Expect json.RawMessage `json:"expect"`
}

type file struct {
	Suites []struct {
		ID    string `json:"id"`
		About string `json:"about"`
		Cases []row  `json:"cases"`
	} `json:"suites"`
}

// Failure is true for a row that expects an error. The class and the text of the error are not compared.
type Failure bool

// UnmarshalJSON accepts every description of an error.
func (f *Failure) UnmarshalJSON(text []byte) error {
	*f = string(text) != "null"
	return nil
}

// Run runs every row of a suite as a subtest. observe returns the outcome of this operator for what is given; fields of a row that
// neither type has fail the test.
func Run[G, E any](t *testing.T, name, suite string, differences map[string]Difference[E], observe func(t *testing.T, given G, expected E) E) {
	t.Helper()
	used := map[string]bool{}
	for _, r := range rows(t, name, suite) {
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
	if _, err := os.Stat(filepath.Join(repository(t), "docs/decisions", d.Page)); err != nil || d.Page == "" {
		t.Errorf("the page that explains the difference %q: %v", d.Why, err)
	}
}

func rows(t *testing.T, name, suite string) []row {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository(t), "test/testdata/cases", name))
	if err != nil {
		t.Fatal(err)
	}
	var f file
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

// repository returns the root of the repository.
func repository(t *testing.T) string {
	t.Helper()
	_, self, _, found := runtime.Caller(0)
	if !found {
		t.Fatal("the path of this file is not known")
	}
	return filepath.Join(filepath.Dir(self), "..", "..")
}
