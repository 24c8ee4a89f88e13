package machine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// elsewhere is the advice for a machine on which a cluster cannot be started.
const elsewhere = "; a cluster that exists can be used instead: set E2E_KUBECONFIG to its kubeconfig (docs/testing.md)"

// Check returns an error with everything that prevents a cluster on this machine.
func Check() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("starting a cluster: containers need Linux, and this is %s%s", runtime.GOOS, elsewhere)
	}
	var missing []error
	if os.Geteuid() != 0 {
		missing = append(missing, errors.New("only root may mount, make network devices and start containers"))
	} else {
		missing = append(missing, checkCapabilities("/proc/self/status"))
	}
	missing = append(missing, checkSpace("/var/lib"))
	if _, err := hierarchies(); err != nil {
		missing = append(missing, err)
	}
	if data, err := os.ReadFile("/proc/filesystems"); err != nil || !strings.Contains(string(data), "\toverlay\n") {
		missing = append(missing, errors.New("the kernel has no overlay file system (try: modprobe overlay)"))
	}
	if _, err := os.Stat("/dev/kmsg"); err != nil {
		missing = append(missing, fmt.Errorf("the kubelet reads the kernel's log: %w", err))
	}
	if err := errors.Join(missing...); err != nil {
		return fmt.Errorf("starting a cluster on this machine: %w%s", err, elsewhere)
	}
	return nil
}

// checkCapabilities checks the capabilities of the process whose status (proc_pid_status(5)) is in a file: root in a
// container lacks some.
func checkCapabilities(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(data), "\nCapEff:")
	word, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	effective, err := strconv.ParseUint(word, 16, 64)
	if err != nil {
		return fmt.Errorf("reading the capabilities of this process: %w", err)
	}
	var errs []error
	for _, c := range []struct {
		bit  int
		name string
		use  string
	}{
		{unix.CAP_NET_ADMIN, "CAP_NET_ADMIN", "make network devices and rules"},
		{unix.CAP_SYS_ADMIN, "CAP_SYS_ADMIN", "mount and start containers"},
	} {
		if effective&(1<<c.bit) == 0 {
			errs = append(errs, fmt.Errorf("this process lacks %s to %s: a container without privileges is no place for a cluster", c.name, c.use))
		}
	}
	return errors.Join(errs...)
}

// leastSpace is the size of the images, unpacked, and of the volumes of a few small tests, in bytes.
const leastSpace = 4 << 30

func checkSpace(dir string) error {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return fmt.Errorf("looking for space in %s: %w", dir, err)
	}
	if free := stat.Bavail * uint64(stat.Bsize); free < leastSpace { //nolint:gosec // the size of a block is positive
		return fmt.Errorf("%s has %d MiB of free space, and images and volumes need %d", dir, free>>20, leastSpace>>20)
	}
	return nil
}
