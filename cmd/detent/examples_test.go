package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// yamlBlock is a block of YAML in a page.
var yamlBlock = regexp.MustCompile("(?s)```yaml\n(apiVersion: .*?\n)```\n")

// A user who applies an example, or the first resource of a page, gets a system that comes to rest.
//
//test:norace
func TestPlansOfExamples(t *testing.T) {
	files := map[string]string{"examples of MirrorMaker 2": "../../examples/mirrormaker2/mirror.yaml"}
	page, err := os.ReadFile("../../docs/offsets.md")
	if err != nil {
		t.Fatal(err)
	}
	block := yamlBlock.FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/offsets.md has no resource")
	}
	files["docs/offsets.md"] = filepath.Join(t.TempDir(), "offsets.yaml")
	if err := os.WriteFile(files["docs/offsets.md"], block[1], 0o600); err != nil {
		t.Fatal(err)
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			if out, errs, code := invoke("plan", "-f", file); code != 0 || errs != "" {
				t.Errorf("exit code %d\n%s\n%s", code, errs, out)
			}
		})
	}
}
