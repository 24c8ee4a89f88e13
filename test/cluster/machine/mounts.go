package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Mounts returns the mount points at and below a directory, in the order they were mounted.
func Mounts(dir string) ([]string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		//  The kernel escapes blanks and similar characters as octal numbers (proc_pid_mountinfo(5)).
		path := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4])
		if path == dir || strings.HasPrefix(path, dir+"/") {
			found = append(found, path)
		}
	}
	return found, nil
}

// AwaitNoLoops waits until no file below a directory is used by a loop device.
func AwaitNoLoops(ctx context.Context, dir string) error {
	return Await(ctx, "no file below "+dir+" is in use", func() (bool, error) {
		lines, err := loopLines(ctx)
		return !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, " "+dir+"/") }), err
	})
}

// Unmount unmounts everything at and below a directory.
func Unmount(dir string) error {
	mounts, err := Mounts(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range slices.Backward(mounts) {
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
			errs = append(errs, fmt.Errorf("unmounting %s: %w", path, err))
		}
	}
	return errors.Join(errs...)
}
