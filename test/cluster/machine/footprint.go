package machine

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// SharedDirs returns directories that containerd, kubelet and CNI plugins use regardless of their configuration. Source:
// the constants in their code.
func SharedDirs() []string {
	return []string{
		"/etc/cni", "/opt/cni", "/run/cni", "/run/containerd", "/run/netns", "/usr/libexec/kubernetes", "/var/lib/cni", "/var/lib/containerd",
		"/var/lib/kubelet", "/var/log/containers", "/var/log/pods",
	}
}

// Picture returns everything on a machine that a cluster changes, one line per item, for comparison with a later picture.
func Picture(ctx context.Context) ([]string, error) {
	var lines []string
	for _, part := range []func(context.Context) ([]string, error){processLines, mountLines, deviceLines, ruleLines, dirLines, cgroupLines, loopLines} {
		more, err := part(ctx)
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	for _, name := range settings() {
		if value, known := Settings()[name]; known {
			lines = append(lines, "setting "+name+" = "+value)
		}
	}
	return lines, nil
}

// processLines lists the processes whose command line contains the cluster's directory, as that of every component does,
// or that have their own mount namespace, as containers have. It does not use cgroups, as Processes does, so that a
// picture also shows processes that Processes misses. It omits other processes, which start and exit independently.
func processLines(context.Context) ([]string, error) {
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return nil, err
	}
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, dir := range found {
		data, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || len(data) == 0 {
			continue // it has exited, or is a kernel thread
		}
		command := strings.ReplaceAll(strings.TrimRight(string(data), "\x00"), "\x00", " ")
		mounts, err := os.Readlink(filepath.Join(dir, "ns", "mnt"))
		if err != nil {
			continue
		}
		if mounts != own || strings.Contains(command, "detent-cluster") {
			lines = append(lines, fmt.Sprintf("process %s %s", filepath.Base(dir), command))
		}
	}
	return lines, nil
}

func mountLines(context.Context) ([]string, error) {
	mounts, err := Mounts("")
	for i := range mounts {
		mounts[i] = "mount " + mounts[i]
	}
	return mounts, err
}

func deviceLines(context.Context) ([]string, error) {
	ifaces, err := net.Interfaces()
	lines := make([]string, len(ifaces))
	for i := range ifaces {
		lines[i] = "device " + ifaces[i].Name
	}
	return lines, err
}

// ruleLines lists the rules of nftables, which include those of current versions of iptables.
func ruleLines(ctx context.Context) ([]string, error) {
	if _, err := exec.LookPath("nft"); err != nil {
		return nil, nil //nolint:nilerr // without the program there are none
	}
	out, err := exec.CommandContext(ctx, "nft", "--stateless", "list", "ruleset").Output()
	if err != nil {
		return nil, fmt.Errorf("listing the rules of nftables: %w", err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		lines = append(lines, "rule "+strings.TrimSpace(line))
	}
	return lines, nil
}

// loopLines lists the files of loop devices.
func loopLines(context.Context) ([]string, error) {
	found, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	var lines []string
	for _, path := range found {
		if file, err := os.ReadFile(path); err == nil {
			lines = append(lines, "loop "+strings.TrimSpace(string(file)))
		}
	}
	return lines, err
}

func dirLines(context.Context) ([]string, error) {
	var lines []string
	for _, dir := range append(SharedDirs(), "/var/lib/detent-cluster") {
		if _, err := os.Stat(dir); err == nil {
			lines = append(lines, "directory "+dir)
		}
	}
	return lines, nil
}

func cgroupLines(context.Context) ([]string, error) {
	roots, err := cgroupRoots()
	for i := range roots {
		roots[i] = "cgroup " + roots[i]
	}
	return roots, err
}
