package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"

	"github.com/detent-dev/detent/crds/admission"
	"github.com/detent-dev/detent/internal/objects"
	"github.com/detent-dev/detent/internal/operator"
	"github.com/detent-dev/detent/internal/plan"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds"
)

// journalOf writes the decisions of a situation, through what the manager opens.
func journalOf(t *testing.T, situation, file string) {
	t.Helper()
	found, err := objects.Read([]string{situations + situation}, nil)
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := registration.Each(kinds.All(), nil, func(k registration.Kind) registration.Part[plan.Kind] { return k.Plan })()
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := admission.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	in, err := plan.Read(context.Background(), schemas, chosen, found)
	if err != nil {
		t.Fatal(err)
	}
	o := operator.Options{Log: logr.Discard()}
	closeIt, err := openJournal(file, nil, &o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Make(context.Background(), in, plan.Options{Journal: o.Journal}); err != nil {
		t.Fatal(err)
	}
	if err := closeIt(); err != nil {
		t.Fatal(err)
	}
}

func TestReplayCommand(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	journalOf(t, "downgrade-refused.yaml", path("good"))
	good, err := os.ReadFile(path("good"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"other":  strings.ReplaceAll(string(good), `"path-forbidden"`, `"path-clear"`),
		"broken": string(good) + `{"v":1,"kind":"Kaf`,
		"none":   "I0101 a log\n",
	} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		args []string
		code int
		out  string
		errs string
	}{
		"as before":                  {args: []string{path("good")}, out: "\n       0 decided otherwise\n       0 not replayed\n"},
		"otherwise":                  {args: []string{path("other")}, code: 1, out: "  then: path-clear to Refused\n  now:  path-forbidden to Refused\n  why:  path-forbidden: not(path-allowed) says yes\n", errs: "1 decisions would differ"},
		"otherwise, as JSON":         {args: []string{path("other"), "-o", "json"}, code: 1, out: `"event": "path-clear"`, errs: "1 decisions"},
		"a line that was cut off":    {args: []string{path("broken")}, out: "not replayed, 1 from line "},
		"no journal":                 {args: []string{path("none")}, code: 1, out: "it is no line of a journal", errs: "nothing could be replayed"},
		"no file":                    {args: []string{path("absent")}, code: 1, errs: "opening the journal"},
		"nothing":                    {code: 1, errs: "name one file with a journal, or - for standard input: got 0 arguments"},
		"a format that there is not": {args: []string{path("good"), "-o", "yaml"}, code: 1, errs: `--output "yaml"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, errs, code := invoke(append([]string{"replay"}, tc.args...)...)
			if code != tc.code || !strings.Contains(out, tc.out) || !strings.Contains(errs, tc.errs) || tc.errs == "" && errs != "" {
				t.Errorf("exit code %d, want %d; output, want %q:\n%s\nstandard error, want %q:\n%s", code, tc.code, tc.out, out, tc.errs, errs)
			}
		})
	}
}

func TestOpenJournalWithoutANameKeepsNone(t *testing.T) {
	o := operator.Options{Log: logr.Discard()}
	closeIt, err := openJournal("", nil, &o)
	if err != nil || o.Journal != nil || closeIt() != nil {
		t.Errorf("journal %v, %v", o.Journal, err)
	}
	var out bytes.Buffer
	if _, err = openJournal("-", &out, &o); err != nil || o.Journal == nil {
		t.Errorf("journal %v, %v", o.Journal, err)
	}
	if _, err = openJournal(filepath.Join(t.TempDir(), "absent", "file"), nil, &o); err == nil {
		t.Error("a file in no directory was opened")
	}
}
