package dev

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

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
	stopped bool
}

// managerGrace is how long the manager may take to end by itself.
const managerGrace = 10 * time.Second

func (w *world) startManager(ctx context.Context) (*managerProcess, error) {
	config, err := w.plane.ServiceAccountConfig(ctx, managerNamespace, managerAccount, 24*time.Hour)
	if err != nil {
		return nil, fmt.Errorf("making the identity of the manager: %w", err)
	}
	m := &managerProcess{world: w, kubeconfig: filepath.Join(w.dir, "manager.kubeconfig"), log: filepath.Join(w.dir, "manager.log")}
	if err := controlplane.WriteKubeconfig(m.kubeconfig, config); err != nil {
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
	p, err := child.Start(child.Spec{
		Name: "detent manager", Path: m.world.options.Executable, Log: m.log, Dir: m.world.dir,
		Args: []string{
			"manager", "--kubeconfig", m.kubeconfig, "--leader-election-namespace", managerNamespace, "--kafka-proxy", m.world.proxy,
			"--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--lease-duration", "4s",
		},
	})
	if err != nil {
		return err
	}
	m.process = p
	return nil
}

// supervise starts the manager again when it ends, with a pause that keeps one that cannot start from filling the log.
func (m *managerProcess) supervise(ctx context.Context) {
	const pause = time.Second
	for {
		m.mu.Lock()
		p := m.process
		m.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-p.Done():
		}
		if ctx.Err() != nil {
			return
		}
		ended, _, _ := strings.Cut(fmt.Sprint(p.Err()), "\n") // what follows is the end of its log
		m.world.say("manager (PID %d): %s; its log: %s", p.PID(), ended, m.log)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if err := m.start(); err != nil {
			m.world.say("starting the manager again: %v", err)
			return
		}
		m.world.say("manager started again, PID %d", m.pid())
	}
}

func (m *managerProcess) pid() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process.PID()
}

func (m *managerProcess) stop() {
	m.mu.Lock()
	m.stopped = true
	p := m.process
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), managerGrace)
	defer cancel()
	p.Stop(ctx, syscall.SIGTERM)
}
