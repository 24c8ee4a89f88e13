package images

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Several commands may use a store at the same time. They lock two files in it; the kernel releases a lock when the
// process exits.
const (
	// usedFile is locked in shared mode by commands that build images, whose layers belong to no image yet.
	usedFile = "used.lock"
	// indexFile is locked while the list of images changes.
	indexFile = "index.lock"
)

// use prevents the store from being pruned until the file is closed.
func (s Store) use() (*os.File, error) { return s.lock(usedFile, unix.LOCK_SH) }

// alone locks the store for exclusive use until the file is closed. It returns nil if another command uses the store.
func (s Store) alone() (*os.File, error) {
	f, err := s.lock(usedFile, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return f, err
}

// change prevents other commands from changing the list of images until the file is closed.
func (s Store) change() (*os.File, error) { return s.lock(indexFile, unix.LOCK_EX) }

func (s Store) lock(name string, how int) (*os.File, error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(s.path(name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), how); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", f.Name(), err), f.Close())
	}
	return f, nil
}
