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

// tryLock takes the advisory lock of the file at path, which it creates. It
// returns errBusy when another open file holds it. The kernel gives the lock
// back when the file is closed or its process ends, in whatever way.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
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
