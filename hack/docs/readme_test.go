package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The README shows an upgrade of real brokers. make e2e writes what kubectl printed, and the drawings.
func TestReadmeShowsARealUpgrade(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	printed, err := os.ReadFile(filepath.Join(root, "docs/upgrade.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), string(printed)) {
		t.Error("README.md does not contain docs/upgrade.txt: make e2e wrote it again, so copy it into the block of kubectl get kafka -w")
	}
	for _, drawing := range []string{"docs/upgrade.svg", "docs/upgrade-dark.svg"} {
		if _, err := os.Stat(filepath.Join(root, drawing)); err != nil || !strings.Contains(string(readme), drawing) {
			t.Errorf("README.md does not show %s: %v", drawing, err)
		}
	}
}
