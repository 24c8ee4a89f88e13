package controlplane

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestSweepRemovesOnlyAbandonedDirectories(t *testing.T) {
	parent := t.TempDir()
	used, err := newRunDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	left, err := newRunDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	left.alive.Close() // as the kernel does for a process that was killed
	young := filepath.Join(parent, runPrefix+"young")
	foreign := filepath.Join(parent, "foreign")
	for _, dir := range []string{young, foreign} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}

	sweep(parent)

	for path, want := range map[string]bool{used.path: true, left.path: false, young: true, foreign: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", filepath.Base(path), err == nil, want)
		}
	}
}

// The owner may be half-way through removing the directory: a lock file that
// comes back would keep it from finishing.
func TestTryLockOldNeverCreatesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), aliveName)
	if _, err := tryLockOld(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("tryLockOld() = %v, want os.ErrNotExist", err)
	}
	assertEmpty(t, filepath.Dir(path))
}
