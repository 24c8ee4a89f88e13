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

// downTimeout bounds the removal: nothing in it takes longer than the kernel's own tidying.
const downTimeout = time.Minute

// Down removes the cluster and all its traces, whatever state it is in. Where there is none it does nothing.
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

// remains says whether anything of a cluster is on this machine.
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

// remove takes everything away, in an order in which nothing grows back: first all who could make something, the rest after
// it. It needs no component to answer, since it also removes what a crash has left.
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

// removeDir keeps off what somebody may still have mounted below it: to empty that would be the loss of what is not ours.
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

// removeSockets removes those of containerd's shims that were killed. They lie in a directory that all containerds of a
// machine share, and each shim has written the name of its own down.
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
