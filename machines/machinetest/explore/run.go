package explore

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	lifecycle "github.com/detent-dev/detent/runtime"
)

// Environment variables that repeat a story or select another sample.
const (
	// repeatVariable contains a subject and moves, as the command of a violation does. Only that story is run.
	repeatVariable = "DETENT_PROOF_REPEAT"
	// seedVariable selects other states among those that more than one fault leads to.
	seedVariable = "DETENT_PROOF_SEED"
)

// Run explores the subject and fails on every defect, with its story and the command that repeats it: broken invariants,
// effects that are not permitted, states that never come to rest, and edges that were never taken although the search was
// complete. It prints one line, the same as a row of markdown, and which guards said yes together.
func Run[O lifecycle.Object, S, E any](t *testing.T, subject Subject[O, S, E], options Options) *Report {
	t.Helper()
	if err := options.fromEnvironment(subject.Name); err != nil {
		t.Fatal(err)
	}
	report, err := Explore(t.Context(), subject, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		v.Command = command(t.Name(), subject.Name, v.Moves)
		t.Error(v)
	}
	if report.Complete && !subject.Part {
		for _, e := range report.Unfired {
			t.Errorf("the edge %s never fired in any order of events: add an event that needs it, fix its guard, or drop it", e)
		}
	}
	// On separate lines, so that those of all subjects can be collected from the output of many packages.
	_, _ = fmt.Fprintf(os.Stdout, "%s\n%s", report, report.Figures())
	report.Overlaps(os.Stdout)
	return report
}

// fromEnvironment reads the environment variables.
func (o *Options) fromEnvironment(subject string) error {
	if text := os.Getenv(seedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("reading %s: %w", seedVariable, err)
		}
		o.Seed = seed
	}
	name, moves, found := strings.Cut(os.Getenv(repeatVariable), ":")
	if !found || name != subject {
		return nil
	}
	o.Repeat = []int{}
	if moves == "" {
		return nil
	}
	for text := range strings.SplitSeq(moves, ".") {
		move, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("reading %s, which is <subject>:<move>.<move>...: %w", repeatVariable, err)
		}
		o.Repeat = append(o.Repeat, move)
	}
	return nil
}

// command returns the shell command that repeats a story. The moves do not depend on the seed or on the limits of the search.
func command(test, subject string, moves []int) string {
	texts := make([]string, len(moves))
	for i, move := range moves {
		texts[i] = strconv.Itoa(move)
	}
	var pattern []string
	for part := range strings.SplitSeq(test, "/") {
		pattern = append(pattern, "^"+part+"$")
	}
	return fmt.Sprintf("%s='%s:%s' go test -count 1 -run '%s' %s", repeatVariable, subject, strings.Join(texts, "."), strings.Join(pattern, "/"), here())
}

// here returns the package under test, as an argument of `go test` in the root of its module.
func here() string {
	dir, err := os.Getwd() // go test runs a package's tests in its directory
	if err != nil {
		return "."
	}
	for root := dir; root != filepath.Dir(root); root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			path, _ := filepath.Rel(root, dir)
			return "./" + filepath.ToSlash(path)
		}
	}
	return "."
}
