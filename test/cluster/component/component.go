// Package component runs the programs of the cluster: each detached from whoever started it, and each in a cgroup of its own
// below one that is the cluster's. What belongs to the cluster is therefore known from the kernel alone, also after a crash
// that lost every file, and a process id that was given to somebody else is never mistaken for one of ours.
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

// launch is the last word before a launcher's own arguments: the directory and the component.
const launch = "become"

// Spec of a program.
type Spec struct {
	Name string   `json:"name"`
	Path string   `json:"path"`
	Args []string `json:"args"`
	// Env is added to what every component has.
	Env []string `json:"env,omitempty"`
	// Dir is the working directory.
	Dir string `json:"dir"`
	// Launcher is the program that becomes the component, by Become. Start sets it, so that others can restart what it ran.
	Launcher []string `json:"launcher"`
}

// Set of components, with their files in a directory.
type Set struct {
	// Dir holds <name>.json, <name>.pid and <name>.log of every component.
	Dir string
	// Launcher is the program that calls Become when it is called with become, a directory and a name. Start needs it.
	Launcher []string
}

func (s Set) file(name, ending string) string { return filepath.Join(s.Dir, name+ending) }

// Log is the file with all that a component printed.
func (s Set) Log(name string) string { return s.file(name, ".log") }

// Start runs a component and keeps its spec, so that Restart can run it again.
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

// Restart runs a component that was started before and runs no more. It returns once the program itself runs.
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
		_ = cmd.Wait() // else it would stay behind as a zombie for as long as this process runs
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

// became says whether a process is the component's program and no longer its launcher. On the way from one to the other it
// looks as if it had ended: when a thread other than the first calls exec, the kernel ends the first before it gives that
// thread the process id (de_thread in fs/exec.c), and until then the process is shown as a zombie.
func became(pid int, spec *Spec) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && string(data) == strings.Join(append([]string{spec.Path}, spec.Args...), "\x00")+"\x00"
}

// Become turns the calling process into the component: it enters the cgroup first, so that nothing the program starts can
// be outside of it, and writes down its process id.
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

// spec that a component was started with.
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

// PID of a component's program, if it runs.
func (s Set) PID(name string) (int, bool) {
	data, err := os.ReadFile(s.file(name, ".pid"))
	if err != nil {
		return 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	return pid, err == nil && machine.InCgroup(pid, name)
}

// EndLaunches ends the launchers that a command which was killed has left on their way into a cgroup.
func (s Set) EndLaunches(ctx context.Context) error {
	return machine.KillCalled(ctx, launch, s.Dir)
}

// Names of all components that were started, running or not.
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

// Signal sends a signal to a component.
func (s Set) Signal(name string, sig syscall.Signal) error {
	pid, running := s.PID(name)
	if !running {
		return fmt.Errorf("signalling %s: it does not run", name)
	}
	return syscall.Kill(pid, sig)
}

// Stop ends a component and returns when it is gone. One that does not run is stopped.
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
