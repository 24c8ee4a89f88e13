// Package component runs the programs of the cluster. Each is detached from the process that started it, and has its own
// cgroup below one that belongs to the cluster. The kernel therefore knows which processes belong to the cluster, also after
// a crash that lost every file, and a process id that was reused by another program is never mistaken for a component.
package component

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/detent-dev/detent/internal/controlplane/child"
	"github.com/detent-dev/detent/test/cluster/machine"
)

// launch is the last word before a launcher's arguments: the directory and the component.
const launch = "become"

// Spec of a program.
type Spec struct {
	Name string   `json:"name"`
	Path string   `json:"path"`
	Args []string `json:"args"`
	// Env is added to the environment that every component has. Optional; default: none.
	Env []string `json:"env,omitempty"`
	// Dir is the working directory.
	Dir string `json:"dir"`
	// Launcher is the command that becomes the component by calling Become. Start stores it in the spec, so that another
	// process can restart the component.
	Launcher []string `json:"launcher"`
}

// Set is the components with files in one directory.
type Set struct {
	// Dir holds <name>.json, <name>.pid and <name>.log of every component.
	Dir string
	// Launcher is a command that calls Become when it is called with become, a directory and a name. Required for Start.
	Launcher []string
}

func (s Set) file(name, ending string) string { return filepath.Join(s.Dir, name+ending) }

// Log is the path of the file with the output of a component.
func (s Set) Log(name string) string { return s.file(name, ".log") }

// Start runs a component and stores its spec, so that Restart can run it again.
func (s Set) Start(ctx context.Context, spec Spec) error {
	spec.Launcher = s.Launcher
	data, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.file(spec.Name, ".json"), data, 0o600); err != nil {
		return err
	}
	return s.Restart(ctx, spec.Name)
}

// Restart runs a component that was started before and has ended. It returns once the program itself runs. It fails with the
// last lines of the log if the program ends at once.
func (s Set) Restart(ctx context.Context, name string) error {
	spec, err := s.spec(name)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(s.Log(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := os.Remove(s.file(name, ".pid")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	cmd := exec.Command(spec.Launcher[0], append(spec.Launcher[1:], launch, s.Dir, name)...) //nolint:noctx // it outlives this process
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // without this it stays a zombie while this process runs
		close(ended)
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if pid, running := s.PID(name); running && became(pid, &spec) {
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("starting %s: it ended at once; its last lines:\n%s", name, child.Tail(s.Log(name)))
		case <-ctx.Done():
			return fmt.Errorf("starting %s: %w", name, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// became reports whether a process is the component's program and not its launcher any more. In between it looks as if it
// had exited: when a thread other than the first calls exec, the kernel ends the first thread before it gives the process id
// to the calling one (de_thread in fs/exec.c), and until then it shows the process as a zombie.
func became(pid int, spec *Spec) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && string(data) == strings.Join(append([]string{spec.Path}, spec.Args...), "\x00")+"\x00"
}

// Become replaces the calling process by the component. It enters the cgroup first, so that every process of the program is
// in it, and writes the process id to a file. It returns only on failure.
func (s Set) Become(name string) error {
	spec, err := s.spec(name)
	if err != nil {
		return err
	}
	if err := machine.EnterCgroup(name); err != nil {
		return err
	}
	if err := os.WriteFile(s.file(name, ".pid"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	if err := os.Chdir(spec.Dir); err != nil {
		return err
	}
	env := append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + spec.Dir}, spec.Env...)
	err = unix.Exec(spec.Path, append([]string{spec.Path}, spec.Args...), env)
	return fmt.Errorf("running %s: %w", spec.Path, err)
}

// spec reads the spec with which a component was started.
func (s Set) spec(name string) (Spec, error) {
	var spec Spec
	data, err := os.ReadFile(s.file(name, ".json"))
	if err != nil {
		return spec, err
	}
	if err := json.Unmarshal(data, &spec); err != nil {
		return spec, fmt.Errorf("reading the spec of %s: %w", name, err)
	}
	return spec, nil
}

// PID returns the process id of a component's program, and false if it is not running.
func (s Set) PID(name string) (int, bool) {
	data, err := os.ReadFile(s.file(name, ".pid"))
	if err != nil {
		return 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return pid, err == nil && machine.InCgroup(pid, name)
}

// EndLaunches ends the launchers of a killed command that have not entered a cgroup yet.
func (s Set) EndLaunches(ctx context.Context) error {
	return machine.KillCalled(ctx, launch, s.Dir)
}

// Names lists all components that were started, running or not.
func (s Set) Names() ([]string, error) {
	files, err := filepath.Glob(s.file("*", ".json"))
	if err != nil {
		return nil, err
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(filepath.Base(file), ".json")
	}
	return names, nil
}

// Signal sends a signal to a component. It fails if the component is not running.
func (s Set) Signal(name string, sig syscall.Signal) error {
	pid, running := s.PID(name)
	if !running {
		return fmt.Errorf("signalling %s: it does not run", name)
	}
	return syscall.Kill(pid, sig)
}

// Stop sends a signal to a component and returns once it has exited. It does nothing if the component is not running.
func (s Set) Stop(ctx context.Context, name string, sig syscall.Signal) error {
	if _, running := s.PID(name); !running {
		return nil
	}
	if err := s.Signal(name, sig); err != nil {
		return err
	}
	return machine.Await(ctx, name+" is gone", func() (bool, error) {
		_, running := s.PID(name)
		return !running, nil
	})
}
