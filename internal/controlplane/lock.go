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

// errBusy means that another process holds the lock.
var errBusy = errors.New("another process holds the lock")

// tryLock acquires the advisory lock of the file at path. It creates the file if
// it does not exist. It returns errBusy if another open file holds the lock. The
// kernel releases the lock when the file is closed or its process ends for any
// reason.
func tryLock(path string) (*os.File, error) { return tryLockWith(path, os.O_RDWR|os.O_CREATE) }

// tryLockOld is tryLock for an existing file. It does not create the file.
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

// lock waits for the lock of the file at path. It calls busy once if it has to
// wait.
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
