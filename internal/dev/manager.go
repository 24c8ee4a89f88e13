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

// managerProcess runs the manager as a separate process and restarts it when it ends.
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
	// managerGrace is how long the manager may take to stop after a signal.
	managerGrace = 10 * time.Second
	// identityLifetime of the manager's token exceeds the lifetime of any local environment.
	identityLifetime = 30 * 24 * time.Hour
	// leaseDuration is how long a new manager waits after the previous one was killed. It is short because there is only one manager.
	leaseDuration = "3s"
	// A manager is restarted after pause, or after longPause if it ran for less than shortLife.
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
	if m.starts > 0 { // keep the log of the previous process
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
		"--metrics-bind-address", "0", "--health-probe-bind-address", "0",
		"--deadline-scale", strconv.FormatFloat(1/o.Speed, 'g', -1, 64),
	}
	for _, s := range m.world.simulations {
		args = append(args, s.ManagerArgs...)
	}
	return args
}

// supervise restarts the manager whenever it ends.
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

// reason describes in one line why a process ended: the signal or exit code, and the last line that it printed.
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

// stop ends the manager, which releases its lease.
func (m *managerProcess) stop() {
	m.mu.Lock()
	m.stopped = true
	p := m.process
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), managerGrace)
	defer cancel()
	p.Stop(ctx, syscall.SIGTERM)
}

// keep copies the logs to the directory that outlives the run.
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
