// Package cli runs the ceph command as a program.
//
// A call is bounded: the program connects within ConnectTimeout, ends within Timeout with all processes that it started, and prints at
// most MaxOutput. What exceeds a bound is an error and never a part of an answer. Secrets are in files whose paths are configured, so
// that neither arguments nor errors contain them.
package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
)

// Program runs the ceph command. It implements ceph.Runner.
type Program struct {
	// Path of the program. Optional; default: ceph, found in PATH.
	Path string
	// Conf is the configuration file of the cluster, with the addresses of the monitors. Required.
	Conf string
	// Name and Keyring authenticate, such as client.admin and the path of its keyring. Required.
	Name, Keyring string
	// ConnectTimeout, Timeout and MaxOutput bound a call. Optional; defaults: DefaultConnectTimeout, DefaultTimeout, DefaultMaxOutput.
	ConnectTimeout, Timeout time.Duration
	MaxOutput               int
}

var errTooMuch = errors.New("the ceph command printed more than is read")

// Run runs one command.
func (p *Program) Run(ctx context.Context, command ceph.Command) (ceph.Result, error) {
	timeout := or(p.Timeout, DefaultTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("the ceph command took longer than %s", timeout))
	defer cancel()
	out, errs := &limited{left: or(p.MaxOutput, DefaultMaxOutput), full: cancel}, &limited{left: or(p.MaxOutput, DefaultMaxOutput), full: cancel}
	cmd := exec.CommandContext(ctx, or(p.Path, "ceph"), p.arguments(command.Args)...) //nolint:gosec // the operator's own arguments, without a shell
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "CEPH_ARGS="}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(command.Input), out, errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return ceph.Result{}, &ceph.NotStarted{Err: err}
	}
	err := cmd.Wait()
	var exited *exec.ExitError
	switch {
	case out.exceeded || errs.exceeded:
		return ceph.Result{}, errTooMuch
	case ctx.Err() != nil:
		return ceph.Result{}, context.Cause(ctx)
	case errors.As(err, &exited) && exited.Exited():
		return ceph.Result{Code: exited.ExitCode(), Stdout: out.kept, Stderr: errs.kept}, nil
	case err != nil:
		return ceph.Result{}, fmt.Errorf("running the ceph command: %w", err)
	}
	return ceph.Result{Stdout: out.kept, Stderr: errs.kept}, nil
}

func (p *Program) arguments(args []string) []string {
	seconds := int(or(p.ConnectTimeout, DefaultConnectTimeout).Round(time.Second) / time.Second)
	return append([]string{
		"--conf", p.Conf, "--name", p.Name, "--keyring", p.Keyring, "--connect-timeout", strconv.Itoa(max(seconds, 1)), "--format", "json",
	}, args...)
}

func or[T comparable](value, otherwise T) T {
	var none T
	if value == none {
		return otherwise
	}
	return value
}

// limited keeps output up to a limit. More output ends the program.
type limited struct {
	kept     []byte // not a bytes.Buffer: its ReadFrom would be used in place of Write
	left     int
	full     context.CancelFunc
	exceeded bool
}

// Write never fails: a failed copy would end with the error of a pipe in place of errTooMuch.
func (l *limited) Write(data []byte) (int, error) {
	if l.left -= len(data); l.left < 0 {
		if !l.exceeded {
			l.exceeded = true
			l.full()
		}
		return len(data), nil
	}
	l.kept = append(l.kept, data...)
	return len(data), nil
}
