//go:build unix

package child

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// watch waits until its standard input is closed and then kills the process in
// its first argument, unless it has read a byte before.
const watch = `if [ -z "$(head -c 1)" ]; then kill -9 "$1"; fi`

// startWatched starts cmd, and a shell that holds the reading end of a pipe.
// Only this process has the writing end. The kernel closes that end when this
// process ends for any reason, kill -9 included, and the shell then kills the
// child.
//
// It is used on systems without a parent death signal. The child is not watched
// until the shell has started. untie must be called soon after the child was
// reaped, before its process id can be reused.
func startWatched(cmd *exec.Cmd) (untie func(), err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end := func(err error) (func(), error) {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("starting its watcher: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return end(err)
	}
	defer r.Close()
	//nolint:noctx // it ends when the pipe closes
	watcher := exec.Command("/bin/sh", "-c", watch, "watcher", strconv.Itoa(cmd.Process.Pid))
	watcher.Stdin = r
	watcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := watcher.Start(); err != nil {
		w.Close()
		return end(err)
	}
	return func() {
		_, _ = w.Write([]byte("x"))
		w.Close()
		_ = watcher.Wait()
	}, nil
}
