package demo

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/kafka/versions"
)

func TestTriesFitInto80Columns(t *testing.T) {
	table, err := versions.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	got := Tries(table)
	want, err := os.ReadFile("testdata/tries.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), strings.Join(got, "\n")); diff != "" {
		t.Errorf("tries (-want +got):\n%s", diff)
	}
	for _, line := range got {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestVersionsToTry(t *testing.T) {
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
			upgrade, downgrade := versionsToTry(table)
			if upgrade != tc.upgrade || downgrade != tc.downgrade {
				t.Errorf("%s and %s, want %s and %s", upgrade, downgrade, tc.upgrade, tc.downgrade)
			}
		})
	}
}
