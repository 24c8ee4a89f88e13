package dev

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka/versions"
	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/controlplane/child"
)

func TestGreetingFitsInto80Columns(t *testing.T) {
	for name, late := range map[string][]controlplane.Program{
		"greeting.txt":      nil,
		"greeting-late.txt": {controlplane.ControllerManager, controlplane.Kubectl},
	} {
		t.Run(name, func(t *testing.T) {
			dir := "/tmp/detent-control-plane-4174145508"
			g := greeting{
				dir: dir, user: dir + "/developer.kubeconfig", admin: dir + "/admin.kubeconfig", server: "https://127.0.0.1:40843", log: dir + "/manager.log",
				manager: 25444, upgrade: "4.3.1", downgrade: "4.2.0", examples: true, late: late,
			}
			want, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), g.text()); diff != "" {
				t.Errorf("greeting (-want +got):\n%s", diff)
			}
			for line := range strings.Lines(g.text()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			g.ascii = true
			for _, r := range g.text() {
				if r > 127 {
					t.Fatalf("%q is not ASCII", r)
				}
			}
		})
	}
}

func TestGreetingWithoutExamples(t *testing.T) {
	g := greeting{upgrade: "4.3.1", downgrade: "4.2.0"}
	if strings.Contains(g.text(), "orders") {
		t.Error("it tells to patch what was not applied")
	}
}

func TestTries(t *testing.T) {
	tests := map[string]struct{ table, upgrade, downgrade string }{
		"the newest, and the newest before records changed": {
			table:   "[{version: 4.0.0, supported: true, metadata: 4.0-IV3}, {version: 4.2.0, supported: true, metadata: 4.2-IV1}, {version: 4.3.0, supported: true, metadata: 4.3-IV0}, {version: 4.3.1, supported: true, default: true, metadata: 4.3-IV0}]",
			upgrade: "4.3.1", downgrade: "4.2.0",
		},
		"nothing that is out of reach": {
			table:   "[{version: 4.1.0, supported: true, metadata: 4.1-IV1}, {version: 4.1.1, supported: true, default: true, metadata: 4.1-IV1}]",
			upgrade: "4.1.1",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			table, err := versions.Parse([]byte(tc.table), "test")
			if err != nil {
				t.Fatal(err)
			}
			upgrade, downgrade := tries(table)
			if upgrade != tc.upgrade || downgrade != tc.downgrade {
				t.Errorf("%s and %s, want %s and %s", upgrade, downgrade, tc.upgrade, tc.downgrade)
			}
		})
	}
}

func TestReason(t *testing.T) {
	tests := map[string]struct {
		err  error
		want string
	}{
		"a signal needs no words":  {&child.ExitError{Code: -1, How: "signal: killed", Tail: "  working"}, "signal: killed"},
		"an error is what it said": {&child.ExitError{Code: 1, How: "exit status 1", Tail: "  one\n  detent: no CRDs"}, "exit status 1: detent: no CRDs"},
		"anything else":            {errors.New("odd"), "odd"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := reason(tc.err); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
