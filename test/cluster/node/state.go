package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/detent-dev/detent/test/cluster/component"
	"github.com/detent-dev/detent/test/cluster/machine"
)

// state is what is needed to remove the cluster: the state of the machine before. It is written before anything else.
type state struct {
	// Settings of the kernel.
	Settings map[string]string `json:"settings"`
	// Dirs of machine.SharedDirs that existed.
	Dirs []string `json:"dirs"`
	// Registry is the address of our registry.
	Registry string `json:"registry"`
}

func stateFile() string { return path("state.json") }

// readyFile exists once the cluster was ready.
func readyFile() string { return path("ready") }

func readState() (state, error) {
	var s state
	data, err := os.ReadFile(stateFile())
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("reading %s: %w", stateFile(), err)
	}
	return s, nil
}

func writeState() (state, error) {
	s := state{Settings: machine.Settings()}
	for _, dir := range machine.SharedDirs() {
		if _, err := os.Stat(dir); err == nil {
			s.Dirs = append(s.Dirs, dir)
		}
	}
	var err error
	if s.Registry, err = freeAddress(); err != nil {
		return s, err
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return s, err
	}
	return s, os.WriteFile(stateFile(), data, 0o600)
}

// newDirs returns the shared directories that did not exist before the cluster.
func (s *state) newDirs() []string {
	return slices.DeleteFunc(machine.SharedDirs(), func(dir string) bool { return slices.Contains(s.Dirs, dir) })
}

// freeAddress returns an address on loopback that was free when it was checked.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it listens at once or not at all
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// RegistryURL returns the URL of the cluster's registry, and whether it is running.
func RegistryURL() (string, bool) {
	s, err := readState()
	if err != nil {
		return "", false
	}
	_, running := Components().PID(Registry)
	return "http://" + s.Registry, running
}

// Components returns the components of the cluster.
func Components() component.Set {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return component.Set{Dir: path("components"), Launcher: []string{self}}
}

// lock prevents two commands from starting or stopping the cluster at the same time: it waits for the other command, until
// ctx ends. The kernel releases the lock when the process exits; if a process is killed while it starts a program, when
// that program has called exec.
func lock(ctx context.Context, log io.Writer) (*os.File, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("finding the cache directory: %w; set XDG_CACHE_HOME", err)
	}
	file := filepath.Join(cache, "detent", "cluster.lock")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	report := sync.OnceFunc(func() {
		fmt.Fprintln(log, "cluster: another command is starting or stopping it; waiting for that")
	})
	err = machine.Await(ctx, "no other command is starting or stopping the cluster", func() (bool, error) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			report()
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", file, err), f.Close())
	}
	return f, nil
}
