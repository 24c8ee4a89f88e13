package dev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/detent-dev/detent/config"
	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/controlplane/child"
)

// managerProcess is the operator as a process of its own, started again when it ends.
type managerProcess struct {
	world      *world
	kubeconfig string
	log        string

	mu      sync.Mutex
	process *child.Process
	starts  int
	stopped bool
}

const (
	// managerGrace is how long the manager may take to end by itself.
	managerGrace = 10 * time.Second
	// identityLifetime is longer than anybody keeps a local world.
	identityLifetime = 30 * 24 * time.Hour
	// leaseDuration is how long a manager that was killed keeps the next one waiting: there is never more than one.
	leaseDuration = "3s"
	// A manager is started again after a pause, a longer one if it did not even live shortly.
	pause, longPause, shortLife = time.Second, 5 * time.Second, 5 * time.Second
)

func (w *world) startManager(ctx context.Context) (*managerProcess, error) {
	identity, err := w.plane.ServiceAccountConfig(ctx, config.Namespace, config.Account, identityLifetime)
	if err != nil {
		return nil, fmt.Errorf("making the identity of the manager: %w", err)
	}
	m := &managerProcess{world: w, kubeconfig: filepath.Join(w.dir, "manager.kubeconfig"), log: filepath.Join(w.dir, "manager.log")}
	if err := controlplane.WriteKubeconfig(m.kubeconfig, identity); err != nil {
		return nil, err
	}
	return m, m.start()
}

func (m *managerProcess) start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return nil
	}
	if m.starts > 0 { // the log of the one before is worth keeping
		if err := os.Rename(m.log, strings.TrimSuffix(m.log, ".log")+fmt.Sprintf("-%d.log", m.starts)); err != nil {
			return err
		}
	}
	p, err := child.Start(child.Spec{Name: "manager", Path: m.world.options.Executable, Log: m.log, Dir: m.world.dir, Args: m.arguments()})
	if err != nil {
		return err
	}
	m.process = p
	m.starts++
	return nil
}

func (m *managerProcess) arguments() []string {
	o := m.world.options
	args := []string{
		"manager", "--kubeconfig", m.kubeconfig, "--leader-election-namespace", config.Namespace, "--lease-duration", leaseDuration,
		"--kafka-proxy", m.world.proxy, "--metrics-bind-address", "0", "--health-probe-bind-address", "0",
		"--deadline-scale", strconv.FormatFloat(1/o.Speed, 'g', -1, 64),
	}
	if o.TableFile != "" {
		args = append(args, "--kafka-versions", o.TableFile)
	}
	return args
}

// supervise starts the manager again whenever it ends.
func (m *managerProcess) supervise(ctx context.Context) {
	clk := m.world.options.Clock
	for {
		p, started := m.current(), clk.Now()
		select {
		case <-ctx.Done():
			return
		case <-p.Done():
		}
		if ctx.Err() != nil || p.Err() == nil {
			return
		}
		m.world.say("manager (pid %d) ended: %s", p.PID(), reason(p.Err()))
		wait := pause
		if clk.Since(started) < shortLife {
			wait = longPause
		}
		select {
		case <-ctx.Done():
			return
		case <-clk.After(wait):
		}
		if err := m.start(); err != nil {
			m.world.say("starting the manager again: %v", err)
			return
		}
		m.world.say("manager started again, pid %d", m.current().PID())
	}
}

// reason that a process ended for, in one line: the signal, or the last thing that it said.
func reason(err error) string {
	var exit *child.ExitError
	if !errors.As(err, &exit) {
		return err.Error()
	}
	said := strings.TrimSpace(exit.Tail[strings.LastIndexByte(exit.Tail, '\n')+1:])
	if exit.Code < 0 || said == "" {
		return exit.How
	}
	return exit.How + ": " + said
}

func (m *managerProcess) current() *child.Process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process
}

// stop ends the manager, which gives its lease back.
func (m *managerProcess) stop() {
	m.mu.Lock()
	m.stopped = true
	p := m.process
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), managerGrace)
	defer cancel()
	p.Stop(ctx, syscall.SIGTERM)
}

// keep copies the logs to where they outlive the run.
func (w *world) keep() error {
	if w.options.Keep == "" {
		return nil
	}
	if err := os.MkdirAll(w.options.Keep, 0o700); err != nil {
		return fmt.Errorf("keeping the logs: %w", err)
	}
	logs, err := filepath.Glob(filepath.Join(w.dir, "*.log"))
	if err != nil {
		return err
	}
	for _, path := range logs {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(w.options.Keep, filepath.Base(path)), data, 0o600)
		}
		if err != nil {
			return fmt.Errorf("keeping the logs: %w", err)
		}
	}
	return nil
}
