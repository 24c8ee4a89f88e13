package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteMakesFolderContainExactlyTheFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "machines")
	if err := write(folder, map[string]string{"a.md": "old", "gone.md": "x"}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a.md": "new", "b.svg": "picture"}
	if err := write(folder, want); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = string(content)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRunRejectsWrongArguments(t *testing.T) {
	if err := run(nil); err == nil {
		t.Error("no folder was accepted")
	}
}
