package images

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Several commands may work on a store at once: two files in it say so, which the kernel gives back when a process ends.
const (
	// usedFile is shared by those who make images, whose layers belong to no image yet.
	usedFile = "used.lock"
	// indexFile is held while the list of images changes.
	indexFile = "index.lock"
)

// use keeps others from pruning the store until the file is closed.
func (s Store) use() (*os.File, error) { return s.lock(usedFile, unix.LOCK_SH) }

// alone says that nobody uses the store until the file is closed; nil says that somebody does.
func (s Store) alone() (*os.File, error) {
	f, err := s.lock(usedFile, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return f, err
}

// change keeps others from changing the list of images until the file is closed.
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
