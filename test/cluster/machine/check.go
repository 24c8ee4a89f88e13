package machine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// elsewhere is what remains where a cluster cannot be started.
const elsewhere = "; a cluster that exists can be used instead: set E2E_KUBECONFIG to its kubeconfig (docs/testing.md)"

// Check says all that is missing for a cluster on this machine.
func Check() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("starting a cluster: containers need Linux, and this is %s%s", runtime.GOOS, elsewhere)
	}
	var missing []error
	if os.Geteuid() != 0 {
		missing = append(missing, errors.New("only root may mount, make network devices and start containers"))
	}
	if _, err := hierarchies(); err != nil {
		missing = append(missing, err)
	}
	if data, err := os.ReadFile("/proc/filesystems"); err != nil || !strings.Contains(string(data), "\toverlay\n") {
		missing = append(missing, errors.New("the kernel has no overlay file system (try: modprobe overlay)"))
	}
	if _, err := os.Stat("/dev/kmsg"); err != nil {
		missing = append(missing, fmt.Errorf("the kubelet reads the kernel's log: %w", err))
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("starting a cluster on this machine: %w%s", errors.Join(missing...), elsewhere)
}
