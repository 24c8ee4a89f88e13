package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
)

// Spec describes the program to run.
type Spec struct {
	// Name of the child in errors. Required.
	Name string
	// Path of the program's file, absolute or relative to Dir. Required.
	Path string
	// Args are its arguments, without the program's name.
	Args []string
	// Env is its complete environment. Optional; default: the parent's.
	Env []string
	// Dir is its working directory. Optional; default: the parent's.
	Dir string
	// Log is the file for its standard output and standard error. It is created,
	// or truncated if it exists. Required.
	Log string
}

// Process is a started child. Its methods are safe for concurrent use.
type Process struct {
	spec Spec
	cmd  *exec.Cmd
	// gone is closed after the child was reaped. err is set before that.
	gone chan struct{}
	err  error
	// asked is true if Stop or Kill was called, which makes the end expected.
	asked atomic.Bool
}

// Start runs the program. The child has its own process group, so that Ctrl-C
// in a terminal signals only the parent, which then stops its children in the
// required order.
//
// An error means that the child was not started. The end of a started child is
// reported by Done.
func Start(spec Spec) (*Process, error) {
	log, err := os.Create(spec.Log)
	if err != nil {
		return nil, fmt.Errorf("starting %s: opening its log: %w", spec.Name, err)
	}
	cmd := exec.Command(spec.Path, spec.Args...) //nolint:noctx // Stop and Kill end it, not a context
	cmd.Env, cmd.Dir = spec.Env, spec.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}

	p := &Process{spec: spec, cmd: cmd, gone: make(chan struct{})}
	started := make(chan error)
	go p.run(log, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s (%s): %w", spec.Name, spec.Path, err)
	}
	return p, nil
}

// run starts the child, waits for it and reaps it, all on one operating system
// thread that runs nothing else. This is required: on Linux the parent death
// signal is bound to the thread that forked, and would kill a healthy child when
// the Go runtime ends that thread (prctl(2), PR_SET_PDEATHSIG). The goroutine
// never unlocks the thread, so the thread ends with it.
func (p *Process) run(log *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer log.Close()

	untie, err := startTied(p.cmd)
	started <- err
	if err != nil {
		return
	}
	err = p.cmd.Wait()
	untie()
	if !p.asked.Load() {
		p.err = p.ended(err)
	}
	close(p.gone)
}

// ended describes an unexpected end.
func (p *Process) ended(err error) error {
	how := "exit status 0"
	if err != nil {
		how = err.Error()
	}
	return &ExitError{Name: p.spec.Name, Code: p.cmd.ProcessState.ExitCode(), How: how, Log: p.spec.Log, Tail: Tail(p.spec.Log)}
}

// Name returns the name of the child.
func (p *Process) Name() string { return p.spec.Name }

// PID returns the child's process id, even after its end.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed once the child has ended for any reason and was reaped.
func (p *Process) Done() <-chan struct{} { return p.gone }

// Err is nil while the child runs, and after Stop or Kill ended it. If it ended
// unexpectedly, with any exit code, Err is an *ExitError.
func (p *Process) Err() error {
	select {
	case <-p.gone:
		return p.err
	default:
		return nil
	}
}

// Stop sends sig and waits for the end of the child. If ctx ends first, it kills
// the child, so that the child has always ended when Stop returns. It is safe to
// call more than once.
func (p *Process) Stop(ctx context.Context, sig os.Signal) {
	p.asked.Store(true)
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.Kill()
		return
	}
	select {
	case <-p.gone:
	case <-ctx.Done():
		p.Kill()
	}
}

// Kill kills the child and waits until it was reaped. It is the right way to stop
// a child whose data is deleted with it.
func (p *Process) Kill() {
	p.asked.Store(true)
	// The only possible error is "already finished".
	_ = p.cmd.Process.Kill()
	<-p.gone
}
