package node

import (
	"bytes"
	"context"
	_ "embed" // the manifests are part of the program
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/test/cluster/machine"
)

// manifests are the objects that every cluster has in addition to the API server's own: DNS and a storage
// class.
//
//go:embed manifests/cluster.yaml
var manifests []byte

// kubectl runs kubectl on the cluster as admin.
type kubectl struct{ program string }

func newKubectl(program string) *kubectl { return &kubectl{program: program} }

// ownKubectl returns the program, which starting the cluster has built.
func ownKubectl(ctx context.Context, log io.Writer) (*kubectl, error) {
	paths, err := controlplane.Binaries(ctx, controlplane.BinaryOptions{Log: log})
	return newKubectl(paths.Kubectl), err
}

// Kubectl runs kubectl on the cluster of this machine and returns its output.
func Kubectl(ctx context.Context, args ...string) ([]byte, error) {
	k, err := ownKubectl(ctx, io.Discard)
	if err != nil {
		return nil, err
	}
	return k.output(ctx, nil, args...)
}

func (k *kubectl) run(ctx context.Context, stdin []byte, args ...string) error {
	_, err := k.output(ctx, stdin, args...)
	return err
}

func (k *kubectl) output(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, k.program, append([]string{"--kubeconfig=" + Kubeconfig()}, args...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	// It is killed when this process is killed. Pdeathsig applies to the thread that forks, so the thread is
	// locked.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}

// ready returns an error unless the API server is ready.
func (k *kubectl) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return k.run(ctx, nil, "get", "--raw=/readyz")
}

// await waits for the API server. Its last error is part of the returned error.
func (k *kubectl) await(ctx context.Context) error {
	return k.retry(ctx, "the API server is ready", k.ready)
}

// install applies the manifests and waits until pods can run.
func (k *kubectl) install(ctx context.Context) error {
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"manifests are accepted", func(ctx context.Context) error { return k.run(ctx, manifests, "apply", "--filename=-") }},
		{"the node is ready", func(ctx context.Context) error {
			return k.run(ctx, nil, "wait", "--for=condition=Ready", "--timeout=5s", "node/"+nodeName)
		}},
		{"DNS answers", func(ctx context.Context) error {
			return k.run(ctx, nil, "--namespace=kube-system", "rollout", "status", "--timeout=5s", "deployment/dns")
		}},
		{"pods may be created", func(ctx context.Context) error { return k.run(ctx, nil, "get", "serviceaccount", "default") }},
	} {
		if err := k.retry(ctx, step.what, step.do); err != nil {
			return err
		}
	}
	return nil
}

func (k *kubectl) retry(ctx context.Context, what string, do func(context.Context) error) error {
	var last error
	err := machine.Await(ctx, what, func() (bool, error) {
		if dead := tails(); dead != "" {
			return false, fmt.Errorf("waiting until %s:%s", what, dead)
		}
		if err := do(ctx); ctx.Err() == nil {
			last = err
		}
		return last == nil, nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("%w; at last: %w", err, last)
	}
	return err
}
