package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// machine is the machine that ran the measurements.
type machine struct {
	CPU, Memory, System, Go, Commit string
	Cores                           int
	// Before and After are the load averages before and after the measurements.
	Before, After string
}

// describe returns this machine as Linux reports it. before is the load before the measurements.
func describe(before string) (machine, error) {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version(), Before: load(before)}
	var err error
	if m.CPU, err = field("/proc/cpuinfo", "model name"); err != nil {
		return m, err
	}
	if m.Memory, err = field("/proc/meminfo", "MemTotal"); err != nil {
		return m, err
	}
	var kib float64
	if _, err := fmt.Sscanf(m.Memory, "%g kB", &kib); err == nil {
		m.Memory = fmt.Sprintf("%.1f GiB", kib/(1<<20))
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return m, err
	}
	m.System = runtime.GOOS + "/" + runtime.GOARCH + " " + strings.TrimSpace(string(kernel))
	after, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return m, err
	}
	m.After = load(string(after))
	m.Commit, err = commit()
	return m, err
}

// load returns the load averages of one, five and fifteen minutes.
func load(text string) string {
	fields := strings.Fields(text)
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// field returns the value of a name in a file with lines "name: value".
func field(path, name string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("%s names no %s", path, name)
}

// commit returns the commit of the work tree, and whether the work tree differs from it. It ignores the page itself,
// which is about to be written.
func commit() (string, error) {
	id, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output() //nolint:noctx // it ends by itself
	if err != nil {
		return "", fmt.Errorf("asking git for the commit: %w", err)
	}
	changes, err := exec.Command("git", "status", "--porcelain", "--", ".", ":!docs/benchmarks.md").Output() //nolint:noctx // it ends by itself
	if err != nil {
		return "", fmt.Errorf("asking git for changes: %w", err)
	}
	text := strings.TrimSpace(string(id))
	if len(changes) > 0 {
		text += ", with changes"
	}
	return text, nil
}
