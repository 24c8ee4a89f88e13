package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"
)

// errBusy says that another process holds a lock.
var errBusy = errors.New("another process holds the lock")

// tryLock takes the advisory lock of the file at path. The file is made when it
// is not there. It returns errBusy when another open file holds the lock. The
// kernel gives the lock back when the file is closed or its process ends, in
// whatever way.
func tryLock(path string) (*os.File, error) { return tryLockWith(path, os.O_RDWR|os.O_CREATE) }

// tryLockOld is tryLock for a file that somebody else made: without it, it fails.
func tryLockOld(path string) (*os.File, error) { return tryLockWith(path, os.O_RDWR) }

func tryLockWith(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errBusy
	}
	return nil, fmt.Errorf("locking %s: %w", path, err)
}

// lock waits for the lock of the file at path. It calls busy once when it has
// to wait.
func lock(ctx context.Context, path string, clk clock.WithTicker, busy func()) (*os.File, error) {
	f, err := tryLock(path)
	if !errors.Is(err, errBusy) {
		return f, err
	}
	busy()
	tick := clk.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for another process that holds %s: %w", path, context.Cause(ctx))
		case <-tick.C():
		}
		if f, err := tryLock(path); !errors.Is(err, errBusy) {
			return f, err
		}
	}
}
