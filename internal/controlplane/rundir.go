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

// runDir is the directory of one running control plane. Its lock is held as
// long as the process that made it lives, which is how another process knows a
// directory in use from one that was left behind.
type runDir struct {
	path  string
	alive *os.File
}

// newRunDir makes a directory under parent that only this user can enter.
func newRunDir(parent string) (*runDir, error) {
	path, err := os.MkdirTemp(parent, runPrefix)
	if err != nil {
		return nil, fmt.Errorf("making a directory for the control plane: %w", err)
	}
	d := &runDir{path: path}
	// The lock is taken before the file gets the name that sweep looks for:
	// there is no moment in which a new directory looks abandoned.
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

// write stores data in a file that only this user can read.
func (d *runDir) write(name string, data []byte) error {
	return os.WriteFile(d.file(name), data, 0o600)
}

func (d *runDir) writePair(name string, pair authority.Pair) error {
	if err := d.write(name+".crt", pair.Cert); err != nil {
		return err
	}
	return d.write(name+".key", pair.Key)
}

// remove deletes the directory and then lets go of its lock.
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

// sweep removes the directories under parent whose processes were killed before
// they could do it. It is a courtesy: what cannot be removed, for example
// another user's, is left alone without a word.
func sweep(parent string) {
	locks, err := filepath.Glob(filepath.Join(parent, runPrefix+"*", aliveName))
	if err != nil {
		return
	}
	for _, path := range locks {
		// Never make the file anew: its owner may be removing the directory.
		f, err := tryLockOld(path)
		if err != nil {
			continue
		}
		_ = os.RemoveAll(filepath.Dir(path))
		f.Close()
	}
}
