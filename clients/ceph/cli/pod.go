package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/detent-dev/detent/clients/ceph"
)

// Pod runs the ceph command in a pod. It implements ceph.Runner. The configuration and the keyring are files in the pod, so that nothing
// that is sent contains a secret but the input of a command.
type Pod struct {
	// Exec runs a command in the pod with the streams, until it ends. An exit code other than 0 is an error with the method ExitStatus. It
	// returns *ceph.NotStarted if the command was not started. Required.
	Exec func(ctx context.Context, command []string, in io.Reader, out, errs io.Writer) error
	// Conf, Name, Keyring, ConnectTimeout, Timeout and MaxOutput as for a Program. The files are in the pod.
	Conf, Name, Keyring     string
	ConnectTimeout, Timeout time.Duration
	MaxOutput               int
}

// Exit codes of the program timeout: it ended the command, with a signal or by killing it.
const (
	codeTimeout = 124
	codeKilled  = 137
)

// transfer is how long the pod's answer takes after the command ended.
const transfer = 3 * time.Second

// Run runs one command. It ends in the pod within Timeout as well: a stream that is closed does not end it.
func (p *Pod) Run(ctx context.Context, command ceph.Command) (ceph.Result, error) {
	timeout := or(p.Timeout, DefaultTimeout)
	late := fmt.Errorf("the ceph command took longer than %s", timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout+transfer, late)
	defer cancel()
	same := &Program{Conf: p.Conf, Name: p.Name, Keyring: p.Keyring, ConnectTimeout: p.ConnectTimeout}
	seconds := max(int(timeout/time.Second), 1)
	args := append([]string{"timeout", "-k", "1", strconv.Itoa(seconds), "ceph"}, same.arguments(command.Args)...)
	var in io.Reader
	if len(command.Input) > 0 {
		in = bytes.NewReader(command.Input)
	}
	out, errs := &limited{left: or(p.MaxOutput, DefaultMaxOutput), full: cancel}, &limited{left: or(p.MaxOutput, DefaultMaxOutput), full: cancel}
	err := p.Exec(ctx, args, in, out, errs)
	var exited interface{ ExitStatus() int }
	var never *ceph.NotStarted
	switch {
	case out.exceeded || errs.exceeded:
		return ceph.Result{}, errTooMuch
	case errors.As(err, &never):
		return ceph.Result{}, never
	case errors.As(err, &exited):
		if code := exited.ExitStatus(); code == codeTimeout || code == codeKilled {
			return ceph.Result{}, late
		}
		return ceph.Result{Code: exited.ExitStatus(), Stdout: out.kept, Stderr: errs.kept}, nil
	case err != nil && ctx.Err() != nil:
		return ceph.Result{}, context.Cause(ctx)
	case err != nil:
		return ceph.Result{}, fmt.Errorf("running the ceph command in a pod: %w", err)
	}
	return ceph.Result{Stdout: out.kept, Stderr: errs.kept}, nil
}
