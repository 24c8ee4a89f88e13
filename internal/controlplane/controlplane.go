package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/detent-dev/detent/internal/controlplane/authority"
	"github.com/detent-dev/detent/internal/controlplane/child"
)

// Options configure a control plane. The zero value is valid.
type Options struct {
	// Paths are the programs to run. Without a ControllerManager no controller runs
	// until StartControllerManager. Optional; default: what Binaries finds or builds.
	Paths Paths
	// Dir is the parent of the run's directory. Optional; default: the system's
	// directory for temporary files.
	Dir string
	// Port is the API server's port on 127.0.0.1. Optional; default: a free port.
	Port int
	// APIServerArgs and ControllerManagerArgs follow the built-in arguments and
	// take precedence over them.
	APIServerArgs, ControllerManagerArgs []string
	// StartTimeout limits the start, without builds. Default: two minutes.
	StartTimeout time.Duration
	// Log receives a line for each step that takes time. Optional; default: none.
	Log io.Writer
	// Clock for certificates and polling. Optional; default: the system's clock.
	Clock clock.WithTicker
}

func (o Options) withDefaults() Options {
	if o.Dir == "" {
		o.Dir = os.TempDir()
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = 2 * time.Minute
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o
}

// ControlPlane is a running etcd, kube-apiserver and kube-controller-manager.
// Its methods are safe for concurrent use.
type ControlPlane struct {
	options   Options
	dir       *runDir
	authority *authority.Authority
	admin     *rest.Config
	port      int

	mu       sync.Mutex
	children []*child.Process
	stopping bool
	failure  error
	// failed is closed when a child has ended unexpectedly.
	failed chan struct{}
}

// Start runs a control plane and returns when it is ready: the API server's
// /readyz succeeds, a pod can be created in namespace default, and every
// controller has started, unless Options.Paths has no controller manager. If it
// fails, all programs are stopped, the directory is removed, and the error
// contains the last lines of the failed program.
//
// ctx limits only the start; Stop stops the control plane.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	o = o.withDefaults()
	if o.Paths == (Paths{}) {
		paths, err := Binaries(ctx, BinaryOptions{Log: o.Log, Clock: o.Clock})
		if err != nil {
			return nil, err
		}
		o.Paths = paths
	}
	sweep(o.Dir)
	dir, err := newRunDir(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{options: o, dir: dir, failed: make(chan struct{})}
	ctx, cancel := context.WithTimeoutCause(ctx, o.StartTimeout, fmt.Errorf("not ready after %s", o.StartTimeout))
	defer cancel()
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the control plane: %w", err), c.Stop())
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		c.writeCredentials,
		c.startEtcd,
		c.startAPIServer,
		c.grant,
		func(ctx context.Context) error { return c.createAccount(ctx, metav1.NamespaceDefault) },
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if c.options.Paths.ControllerManager == "" {
		return nil
	}
	return c.startManager(ctx, c.options.Paths.ControllerManager)
}

// StartControllerManager starts the program at path on a control plane that was
// started without one, and returns when every controller has started. It must
// not be called if a controller manager is already running. If it fails, the API
// server keeps running. After Stop it returns ErrStopped.
func (c *ControlPlane) StartControllerManager(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.StartTimeout, fmt.Errorf("not ready after %s", c.options.StartTimeout))
	defer cancel()
	if err := c.startManager(ctx, path); err != nil {
		return fmt.Errorf("starting the controller manager: %w", err)
	}
	return nil
}

// writeCredentials creates the files that the servers need before they start.
func (c *ControlPlane) writeCredentials(context.Context) error {
	var err error
	if c.authority, err = authority.New(c.options.Clock.Now()); err != nil {
		return err
	}
	if err := c.dir.write(authorityFile, c.authority.PEM()); err != nil {
		return err
	}
	for _, name := range []string{apiServerPair, managerPair} {
		pair, err := c.authority.Server(name)
		if err != nil {
			return err
		}
		if err := c.dir.writePair(name, pair); err != nil {
			return err
		}
	}
	key, err := authority.NewKey()
	if err != nil {
		return err
	}
	return c.dir.write(tokenKeyFile, key)
}

// writeKubeconfigs requires the port, and is therefore called after the API server's start.
func (c *ControlPlane) writeKubeconfigs() error {
	files := c.Kubeconfigs()
	return errors.Join(
		WriteKubeconfig(files.Admin, c.admin),
		c.writeUser(files.Developer, DeveloperUser, DeveloperGroup),
		c.writeUser(files.BreakGlass, BreakGlassUser, BreakGlassGroup),
		c.writeUser(c.dir.file(managerKubeconfig), managerUser),
	)
}

// ErrStopped is returned after Stop was called.
var ErrStopped = errors.New("the control plane was stopped")

// run starts one program, which Stop stops. After Stop it returns ErrStopped.
func (c *ControlPlane) run(name, path string, args []string) (*child.Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		return nil, ErrStopped
	}
	p, err := child.Start(child.Spec{Name: name, Path: path, Args: args, Dir: c.dir.path, Log: c.dir.file(name + ".log")})
	if err != nil {
		return nil, err
	}
	c.children = append(c.children, p)
	return p, nil
}

// watch records the first child that ends unexpectedly.
func (c *ControlPlane) watch(p *child.Process) {
	go func() {
		<-p.Done()
		c.mu.Lock()
		defer c.mu.Unlock()
		if err := p.Err(); err != nil && c.failure == nil && !c.stopping {
			c.failure = err
			close(c.failed)
		}
	}()
}

// Failed is closed when one of the programs has ended unexpectedly; Err then
// returns the reason. The other programs keep running until Stop.
func (c *ControlPlane) Failed() <-chan struct{} { return c.failed }

// Err is nil while every program runs, and after Stop.
func (c *ControlPlane) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// Stop stops the control plane and removes its directory with the kubeconfigs.
// It is safe to call more than once. It kills the programs: their data is
// deleted anyway, and a graceful shutdown would wait for every client.
func (c *ControlPlane) Stop() error {
	c.mu.Lock()
	c.stopping = true
	children := c.children
	c.children = nil
	c.mu.Unlock()

	var ends sync.WaitGroup
	for _, p := range children {
		ends.Go(p.Kill)
	}
	ends.Wait()
	return c.dir.remove()
}

// URL returns the address of the API server.
func (c *ControlPlane) URL() string {
	return "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port))
}

// AdminConfig returns credentials with all permissions.
func (c *ControlPlane) AdminConfig() *rest.Config { return rest.CopyConfig(c.admin) }

// Kubeconfigs returns the paths of the kubeconfig files.
func (c *ControlPlane) Kubeconfigs() Kubeconfigs {
	return Kubeconfigs{
		Admin:      c.dir.file("admin.kubeconfig"),
		Developer:  c.dir.file("developer.kubeconfig"),
		BreakGlass: c.dir.file("break-glass.kubeconfig"),
	}
}

// Kubectl returns the path of a kubectl of the API server's version, or an empty
// string if Options.Paths has none.
func (c *ControlPlane) Kubectl() string { return c.options.Paths.Kubectl }

// PIDs returns the process ids of the started programs, by name.
func (c *ControlPlane) PIDs() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	pids := make(map[string]int, len(c.children))
	for _, p := range c.children {
		pids[p.Name()] = p.PID()
	}
	return pids
}
