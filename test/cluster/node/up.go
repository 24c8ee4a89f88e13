package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/controlplane/child"
	"github.com/detent-dev/detent/test/cluster/component"
	"github.com/detent-dev/detent/test/cluster/images"
	"github.com/detent-dev/detent/test/cluster/machine"
)

// ExistingEnv is the environment variable with the kubeconfig of an existing cluster. If it is set, no cluster is started
// and none is stopped.
const ExistingEnv = "E2E_KUBECONFIG"

// startTimeout bounds the start, without builds.
const startTimeout = 3 * time.Minute

// Options of Up.
type Options struct {
	// Repository is the root directory of the sources.
	Repository string
	Log        io.Writer
}

// Up returns the kubeconfig of a running cluster, and starts one if there is none. It does not change a running cluster. It
// removes the remains of a crash first. If the start fails, the logs of the components are kept until the next Up or Down.
func Up(ctx context.Context, o Options) (string, error) {
	if existing := os.Getenv(ExistingEnv); existing != "" {
		if _, err := os.Stat(existing); err != nil {
			return "", fmt.Errorf("using the cluster of %s: %w", ExistingEnv, err)
		}
		fmt.Fprintf(o.Log, "cluster: %s is set, so none is started\n", ExistingEnv)
		return existing, nil
	}
	if err := machine.Check(); err != nil {
		return "", err
	}
	held, err := lock(ctx, o.Log)
	if err != nil {
		return "", err
	}
	defer held.Close()
	if Running(ctx) {
		fmt.Fprintln(o.Log, "cluster: it runs already")
		return Kubeconfig(), nil
	}
	p, store, err := prepare(ctx, o)
	if err != nil {
		return "", err
	}
	if there, err := remains(); err != nil || there {
		fmt.Fprintln(o.Log, "cluster: removing what an earlier one has left")
		if err := errors.Join(err, remove(ctx)); err != nil {
			return "", err
		}
	}
	begun := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready after %s", startTimeout))
	defer cancel()
	if err := start(ctx, p, store); err != nil {
		return "", fmt.Errorf("starting the cluster: %w\nits logs are in %s; make cluster-down removes them", err, Components().Dir)
	}
	fmt.Fprintf(o.Log, "cluster: ready after %s\n", time.Since(begun).Round(100*time.Millisecond))
	return Kubeconfig(), os.WriteFile(readyFile(), nil, 0o600)
}

// Running reports whether all components of a cluster are running.
func Running(ctx context.Context) bool {
	if _, err := os.Stat(readyFile()); err != nil {
		return false
	}
	set := Components()
	names, err := set.Names()
	if err != nil {
		return false
	}
	for _, name := range names {
		if _, alive := set.PID(name); !alive {
			return false
		}
	}
	k, err := ownKubectl(ctx, io.Discard)
	return err == nil && k.ready(ctx) == nil
}

// Prepare installs packages and builds programs and images, so that Up takes only seconds.
func Prepare(ctx context.Context, o Options) error {
	if err := machine.Check(); err != nil {
		return err
	}
	_, _, err := prepare(ctx, o)
	return err
}

// prepare provides everything that a start needs. It takes long the first time.
func prepare(ctx context.Context, o Options) (*programs, images.Store, error) {
	store, err := images.DefaultStore()
	if err != nil {
		return nil, store, err
	}
	if err := machine.Install(ctx, o.Log, machine.NodePackages()); err != nil {
		return nil, store, err
	}
	p := &programs{}
	if p.self, err = os.Executable(); err != nil {
		return nil, store, err
	}
	binaries := controlplane.BinaryOptions{Log: o.Log}
	if p.plane, err = controlplane.Binaries(ctx, binaries); err != nil {
		return nil, store, err
	}
	if p.node, err = controlplane.NodeBinaries(ctx, binaries); err != nil {
		return nil, store, err
	}
	recipes, err := images.Choose(images.NodeImages())
	if err != nil {
		return nil, store, err
	}
	kitchen := &images.Kitchen{Store: store, Repository: o.Repository, Log: o.Log}
	return p, store, kitchen.Make(ctx, recipes)
}

func start(ctx context.Context, p *programs, store images.Store) error {
	for _, dir := range []string{"pki", "components", "etcd", "volumes", "kubelet", "pod-logs"} {
		if err := os.MkdirAll(path(dir), 0o700); err != nil {
			return err
		}
	}
	if err := os.Chmod(Dir, 0o711); err != nil { // containers access their volumes through it
		return err
	}
	s, err := writeState()
	if err != nil {
		return err
	}
	if err := errors.Join(
		os.Chmod(path("volumes"), 0o711), os.Chmod(path("kubelet"), 0o711),
		machine.AddDevice(ctx, net.ParseIP(nodeAddress)), writeCredentials(time.Now()), writeConfigs("http://"+s.Registry),
	); err != nil {
		return err
	}
	k := newKubectl(p.plane.Kubectl)
	return errors.Join(startComponents(ctx, []component.Spec{
		registry(p, s.Registry, store.Dir), etcd(p), containerd(p), apiServer(p),
	}), k.await(ctx), startComponents(ctx, []component.Spec{
		controllerManager(p), scheduler(p), kubelet(p), proxy(p), provisioner(p),
	}), k.install(ctx))
}

func startComponents(ctx context.Context, specs []component.Spec) error {
	set := Components()
	for _, spec := range specs {
		if err := set.Start(ctx, spec); err != nil {
			return err
		}
	}
	return nil
}

// tails returns the last log lines of all components that have exited.
func tails() string {
	set := Components()
	names, err := set.Names()
	if err != nil {
		return ""
	}
	var out strings.Builder
	for _, name := range names {
		if _, alive := set.PID(name); !alive {
			fmt.Fprintf(&out, "\n%s has ended:\n%s", name, child.Tail(set.Log(name)))
		}
	}
	return out.String()
}
