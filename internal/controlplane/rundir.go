package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/detent-dev/detent/internal/controlplane/authority"
)

const (
	runPrefix = "detent-control-plane-"
	aliveName = "alive.lock"
)

// runDir is the directory of one running control plane. The process that created
// it holds its lock as long as it lives, so that another process can distinguish
// a directory in use from an abandoned one.
type runDir struct {
	path  string
	alive *os.File
}

// newRunDir creates a directory in parent that only this user can enter.
func newRunDir(parent string) (*runDir, error) {
	path, err := os.MkdirTemp(parent, runPrefix)
	if err != nil {
		return nil, fmt.Errorf("making a directory for the control plane: %w", err)
	}
	d := &runDir{path: path}
	// The lock is acquired before the file gets the name that sweep looks for, so
	// that a new directory never looks abandoned.
	young := d.file(aliveName + ".new")
	if d.alive, err = tryLock(young); err == nil {
		err = os.Rename(young, d.file(aliveName))
	}
	if err != nil {
		return nil, errors.Join(d.remove(), fmt.Errorf("making a directory for the control plane: %w", err))
	}
	return d, nil
}

func (d *runDir) file(elem ...string) string {
	return filepath.Join(append([]string{d.path}, elem...)...)
}

// write writes a file that only this user can read.
func (d *runDir) write(name string, data []byte) error {
	return os.WriteFile(d.file(name), data, 0o600)
}

func (d *runDir) writePair(name string, pair authority.Pair) error {
	if err := d.write(name+".crt", pair.Cert); err != nil {
		return err
	}
	return d.write(name+".key", pair.Key)
}

// remove deletes the directory and then releases its lock.
func (d *runDir) remove() error {
	err := os.RemoveAll(d.path)
	if d.alive != nil {
		d.alive.Close()
	}
	if err != nil {
		return fmt.Errorf("removing the control plane's directory: %w", err)
	}
	return nil
}

// sweep removes the directories in parent whose processes were killed before
// they could remove them. It is best effort: it ignores directories that it
// cannot remove, for example those of another user.
func sweep(parent string) {
	locks, err := filepath.Glob(filepath.Join(parent, runPrefix+"*", aliveName))
	if err != nil {
		return
	}
	for _, path := range locks {
		// The file must not be created: its owner may be removing the directory.
		f, err := tryLockOld(path)
		if err != nil {
			continue
		}
		_ = os.RemoveAll(filepath.Dir(path))
		f.Close()
	}
}
