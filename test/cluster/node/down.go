package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/detent-dev/detent/test/cluster/machine"
)

// downTimeout bounds the removal. No step takes longer than the kernel's clean-up.
const downTimeout = time.Minute

// Down removes the cluster completely, in any state. It does nothing if there is no cluster.
func Down(ctx context.Context, log io.Writer) error {
	if existing := os.Getenv(ExistingEnv); existing != "" {
		fmt.Fprintf(log, "cluster: %s is set, so nothing was started here and nothing is stopped\n", ExistingEnv)
		return nil
	}
	held, err := lock(ctx, log)
	if err != nil {
		return err
	}
	defer held.Close()
	there, err := remains()
	if err != nil || !there {
		fmt.Fprintln(log, "cluster: there is none")
		return err
	}
	begun := time.Now()
	if err := remove(ctx); err != nil {
		return err
	}
	fmt.Fprintf(log, "cluster: gone after %s\n", time.Since(begun).Round(100*time.Millisecond))
	return nil
}

// remains reports whether any part of a cluster is on this machine.
func remains() (bool, error) {
	if _, err := os.Stat(Dir); err == nil {
		return true, nil
	}
	pids, err := machine.Processes()
	if err != nil {
		return false, err
	}
	devices, err := machine.Devices(podRange())
	return len(pids) > 0 || len(devices) > 0, err
}

// remove removes everything, in an order in which nothing is created again: first every process, then the rest. It requires
// no component to answer, because it also cleans up after a crash.
func remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	s, stateErr := readState()
	if err := errors.Join(Components().EndLaunches(ctx), machine.KillAll(ctx)); err != nil {
		return err
	}
	err := errors.Join(
		removeSockets(),
		machine.Unmount(Dir),
		machine.AwaitNoLoops(ctx, Dir),
		machine.RemoveNetwork(ctx, podRange()),
		machine.RemoveCgroups(ctx),
	)
	if stateErr == nil {
		for _, dir := range s.newDirs() {
			err = errors.Join(err, machine.Unmount(dir), os.RemoveAll(dir))
		}
		err = errors.Join(err, machine.RestoreSettings(s.Settings))
	}
	if err != nil {
		return fmt.Errorf("removing the cluster: %w", err)
	}
	return removeDir()
}

// removeDir removes the cluster's directory. It fails if something is still mounted below it, because removing the content
// of another mount would delete files that are not ours.
func removeDir() error {
	mounts, err := machine.Mounts(Dir)
	if err != nil {
		return err
	}
	if len(mounts) > 0 {
		return fmt.Errorf("removing the cluster: %s is still mounted", strings.Join(mounts, ", "))
	}
	return os.RemoveAll(Dir)
}

// removeSockets removes the sockets of containerd's shims that were killed. They are in a directory that all containerds of
// a machine share, and each shim has stored the name of its socket.
func removeSockets() error {
	files, err := filepath.Glob(path("containerd", "state", "io.containerd.runtime.v2.task", "*", "*", "address"))
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range files {
		address, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if err := os.Remove(strings.TrimPrefix(string(address), "unix://")); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
