// Package cases reads the published cases of behaviour: suites of rows with what is given and what is expected. A row that no test runs
// fails the test of its suite, so that a new row cannot be forgotten.
package cases

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// Outcome is what a row expects, or what happened, by the keys of the file.
type Outcome map[string]any

// Row is one case. Given is decoded strictly: a key that G lacks fails the test.
type Row[G any] struct {
	Name string
	// Source says where the case is from, and From in which file of it.
	Source, From string
	Given        G
	// Expect is the outcome that was observed, and Want the one that is better; without one, Expect is wanted.
	Expect, Want Outcome
}

// Wanted is the outcome that the row asks for.
func (r *Row[G]) Wanted() Outcome {
	if r.Want != nil {
		return r.Want
	}
	return r.Expect
}

// Better is an outcome that differs on purpose from the one of the file. It is compared like any other.
type Better struct {
	Outcome Outcome
	// Page is the number of the page in docs/decisions that has the decision, and Reason its sentence about the case.
	Page, Reason string
}

// Ceph returns the rows of a suite of ceph.yaml.
func Ceph[G any](t *testing.T, suite string) []Row[G] {
	t.Helper()
	node, found := suites(t)[suite]
	if !found {
		t.Fatalf("ceph.yaml has no suite %s", suite)
	}
	text, err := yaml.Marshal(&node)
	if err != nil {
		t.Fatalf("reading %s: %v", suite, err)
	}
	var rows []Row[G]
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&rows); err != nil {
		t.Fatalf("reading %s: %v", suite, err)
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no rows", suite)
	}
	return rows
}

// observed is the source of what real daemons did. Such a row is compared with that, too: simulated daemons do the same, whatever the operator
// makes of it.
const observed = "real"

// Run runs every row, and compares what it comes to with what the row, or its entry in better, asks for.
func Run[G any](t *testing.T, rows []Row[G], better map[string]Better, do func(t *testing.T, row *Row[G]) Outcome) {
	t.Helper()
	unused := maps.Clone(better)
	for i := range rows {
		row := &rows[i]
		delete(unused, row.Name)
		t.Run(row.Name, func(t *testing.T) {
			wanted := []Outcome{row.Wanted()}
			if b, differs := better[row.Name]; differs {
				checkPage(t, b.Page, b.Reason)
				wanted = []Outcome{b.Outcome}
			} else if row.Source == observed {
				wanted = append(wanted, row.Expect)
			}
			got := do(t, row)
			for _, want := range wanted {
				compare(t, want, got)
			}
		})
	}
	if len(unused) > 0 {
		t.Errorf("the suite has no rows %q", slices.Sorted(maps.Keys(unused)))
	}
}

// compare compares the keys of want. A key that the outcome lacks fails the test.
func compare(t *testing.T, want, all Outcome) {
	t.Helper()
	if len(want) == 0 {
		t.Fatal("the case asks for nothing")
	}
	got := Outcome{}
	for key := range want {
		got[key] = all[key]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// checkPage fails the test if an outcome that differs has no reason, or no page in docs/decisions.
func checkPage(t *testing.T, page, reason string) {
	t.Helper()
	pages, err := filepath.Glob(repository("docs", "decisions", page+"-*.md"))
	if err != nil || len(pages) != 1 || reason == "" {
		t.Errorf("the outcome differs without a reason or a page: %q, %v", page, err)
	}
}

func suites(t *testing.T) map[string]yaml.Node {
	t.Helper()
	data, err := os.ReadFile(repository("test", "testdata", "cases", "ceph.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]yaml.Node
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// repository returns the path of a file of the repository. Tests run in the folder of their package.
func repository(parts ...string) string {
	root := "."
	for range 10 {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join(root, "..")
	}
	return filepath.Join(append([]string{root}, parts...)...)
}
