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

// Spec says which program to run and how.
type Spec struct {
	// Name is what errors call the child. Required.
	Name string
	// Path is the program's file, absolute or relative to Dir. Required.
	Path string
	// Args are its arguments, without the program's own name.
	Args []string
	// Env is its whole environment; nil means the parent's.
	Env []string
	// Dir is its working directory; empty means the parent's.
	Dir string
	// Log is the file that takes its standard output and standard error. It is
	// created, or cut to nothing when it exists. Required.
	Log string
}

// Process is a child that was started. Its methods may be called from any
// goroutine.
type Process struct {
	spec Spec
	cmd  *exec.Cmd
	// gone is closed after the child was reaped; err is set before that.
	gone chan struct{}
	err  error
	// asked tells an end that we brought about from one that we did not.
	asked atomic.Bool
}

// Start runs the program. The child is in a process group of its own, so that
// Ctrl-C in a terminal reaches the parent alone, which then ends its children
// in the order it wants.
//
// An error says that the child did not start; one that ends right afterwards is
// seen through Done.
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
// thread that nothing else uses. That is not for tidiness: on Linux the parent
// death signal is bound to the thread that forked, and a thread that the Go
// runtime retires would take a healthy child with it (prctl(2),
// PR_SET_PDEATHSIG). The goroutine never unlocks, so the thread ends with it.
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

// ended describes an end that nobody here asked for.
func (p *Process) ended(err error) error {
	how := "exit status 0"
	if err != nil {
		how = err.Error()
	}
	return &ExitError{Name: p.spec.Name, Code: p.cmd.ProcessState.ExitCode(), How: how, Log: p.spec.Log, Tail: Tail(p.spec.Log)}
}

// Name is what the child is called.
func (p *Process) Name() string { return p.spec.Name }

// PID is the child's process id, also after its end.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed once the child has ended and was reaped, for whatever reason.
func (p *Process) Done() <-chan struct{} { return p.gone }

// Err is nil while the child runs, and after Stop or Kill ended it. When it
// ended by itself, whatever its exit code, Err is an *ExitError.
func (p *Process) Err() error {
	select {
	case <-p.gone:
		return p.err
	default:
		return nil
	}
}

// Stop sends sig and waits for the child's end. When ctx is done first the
// child is killed, so that Stop never returns before the child is gone. It is
// safe to call more than once.
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

// Kill ends the child at once and waits until it was reaped. For children whose
// data is thrown away together with them this is the right way to stop.
func (p *Process) Kill() {
	p.asked.Store(true)
	// The only failure is "already finished", which is what is wanted.
	_ = p.cmd.Process.Kill()
	<-p.gone
}
