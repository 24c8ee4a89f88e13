package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	cgroupMount = "/sys/fs/cgroup"
	// ownCgroup contains a cgroup for each component.
	ownCgroup = "detent-cluster"
	// podCgroup is the kubelet's cgroup for pods.
	podCgroup = "kubepods"
)

// hierarchies returns the cgroup hierarchies of a component: the one of cgroup v2, or those of v1 that record which
// processes belong to it and that free it from the limits of the shell that started it.
func hierarchies() ([]string, error) {
	if _, err := os.Stat(filepath.Join(cgroupMount, "cgroup.controllers")); err == nil {
		return []string{cgroupMount}, nil
	}
	var found []string
	for _, name := range []string{"pids", "memory"} {
		dir := filepath.Join(cgroupMount, name)
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err != nil {
			return nil, fmt.Errorf("looking for cgroups: neither %s nor the v1 hierarchy %s is mounted: %w", cgroupMount, dir, err)
		}
		found = append(found, dir)
	}
	return found, nil
}

// EnterCgroup moves the calling process into the cgroup of a component.
func EnterCgroup(name string) error {
	list, err := hierarchies()
	if err != nil {
		return err
	}
	for _, h := range list {
		dir := filepath.Join(h, ownCgroup, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("making a cgroup for %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0); err != nil {
			return fmt.Errorf("entering the cgroup of %s: %w", name, err)
		}
	}
	return nil
}

// InCgroup reports whether a process is running in the cgroup of the component.
func InCgroup(pid int, name string) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return false
	}
	want := "/" + ownCgroup + "/" + name
	for line := range strings.Lines(string(data)) {
		if strings.HasSuffix(strings.TrimSpace(line), ":"+want) {
			return !zombie(pid)
		}
	}
	return false
}

// zombie reports whether a process has exited but was not reaped by its parent, or does not exist. While threads of a killed process are
// left, its first thread already looks as if the process had exited, but its sockets are still open.
func zombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	if !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X") {
		return false
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return err != nil || len(threads) <= 1
}

// cgroupRoots returns the cluster's cgroups at the top of every hierarchy.
func cgroupRoots() ([]string, error) {
	var roots []string
	for _, pattern := range []string{ownCgroup, podCgroup, "*/" + ownCgroup, "*/" + podCgroup} {
		found, err := filepath.Glob(filepath.Join(cgroupMount, pattern))
		if err != nil {
			return nil, err
		}
		roots = append(roots, found...)
	}
	return roots, nil
}

// belowCgroup calls visit for every cgroup at and below root, the deepest first.
func belowCgroup(root string, visit func(dir string) error) error {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir():
			dirs = append(dirs, path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(dirs) {
		if err := visit(dir); err != nil {
			return err
		}
	}
	return nil
}

// Processes returns the ids of all processes of the cluster: its components, and all processes in its pods.
func Processes() ([]int, error) {
	roots, err := cgroupRoots()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, root := range roots {
		err := belowCgroup(root, func(dir string) error {
			pids = append(pids, readProcesses(filepath.Join(dir, "cgroup.procs"))...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids), nil
}

// ContainerProcesses returns the ids of the processes of a pod's container.
func ContainerProcesses(podUID, containerID string) ([]int, error) {
	list, err := hierarchies()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, pattern := range []string{"pod" + podUID, "*/pod" + podUID} {
		found, err := filepath.Glob(filepath.Join(list[0], podCgroup, pattern, containerID, "cgroup.procs"))
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			pids = append(pids, readProcesses(file)...)
		}
	}
	return pids, nil
}

// readProcesses returns the running processes in a cgroup, none if the cgroup does not exist.
func readProcesses(file string) []int {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var pids []int
	for field := range strings.FieldsSeq(string(data)) {
		if pid, err := strconv.Atoi(field); err == nil && !zombie(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// KillCalled kills every process whose command line contains these arguments in this order, and returns once none is left.
func KillCalled(ctx context.Context, args ...string) error {
	wanted := "\x00" + strings.Join(args, "\x00") + "\x00"
	return Await(ctx, "every process called with "+strings.Join(args, " ")+" is gone", func() (bool, error) {
		found, err := filepath.Glob("/proc/[0-9]*/cmdline")
		left := 0
		for _, path := range found {
			data, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(data), wanted) {
				continue // it has exited, or is another program
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && !zombie(pid) {
				left++
				_ = syscall.Kill(pid, syscall.SIGKILL) // fails only if it has exited
			}
		}
		return left == 0, err
	})
}

// KillAll kills every process of the cluster, and returns once none is left.
func KillAll(ctx context.Context) error {
	return Await(ctx, "every process of the cluster is gone", func() (bool, error) {
		pids, err := Processes()
		if err != nil {
			return false, err
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return false, fmt.Errorf("killing process %d: %w", pid, err)
			}
		}
		return len(pids) == 0, nil
	})
}

// RemoveCgroups removes the cluster's cgroups, which must be empty.
func RemoveCgroups(ctx context.Context) error {
	roots, err := cgroupRoots()
	if err != nil {
		return err
	}
	for _, root := range roots {
		err := Await(ctx, "cgroup "+root+" is gone", func() (bool, error) {
			busy := false
			err := belowCgroup(root, func(dir string) error {
				err := os.Remove(dir)
				if errors.Is(err, syscall.EBUSY) { // the last process is still exiting
					busy = true
					return nil
				}
				if errors.Is(err, os.ErrNotExist) {
					return nil
				}
				return err
			})
			return !busy, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
