// Package stage is what scenarios on a real cluster play on: the cluster, a namespace for each scenario, what is kept of one
// that failed, and the report of a run.
package stage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/examples/hello/api"
	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds"
)

const (
	// existingEnv is set for an existing cluster, which is not the one of make cluster-up.
	existingEnv = "E2E_KUBECONFIG"
	// kubeconfigEnv names the kubeconfig of the cluster to play on.
	kubeconfigEnv = "KUBECONFIG"
)

var errNoChaos = errors.New("the chaos box works on the cluster of make cluster-up alone")

// Cluster to play on.
type Cluster struct {
	Config *rest.Config
	Client client.WithWatch
	// Clientset for what the other client cannot do, such as logs.
	Clientset kubernetes.Interface
	// Root of the repository.
	Root string
	// machines of the kinds, to draw the lifecycles of a scenario that failed.
	machines []catalogue.Machine
}

// Connect to the cluster of the environment.
func Connect(root string) (*Cluster, error) {
	file := os.Getenv(existingEnv)
	if file == "" {
		file = os.Getenv(kubeconfigEnv)
	}
	if file == "" {
		return nil, fmt.Errorf("connecting to a cluster: neither %s nor %s is set; make e2e-smoke sets them", existingEnv, kubeconfigEnv)
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return nil, fmt.Errorf("connecting to a cluster: %w", err)
	}
	config.QPS, config.Burst = 50, 100
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, kafkav1beta2.AddToScheme, corev1beta2.AddToScheme, cephv1.AddToScheme, api.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	c := &Cluster{Config: config, Root: root}
	if c.Client, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	if c.machines, err = registration.Machines(kinds.All(), pflag.NewFlagSet("machines", pflag.ContinueOnError))(); err != nil {
		return nil, err
	}
	c.Clientset, err = kubernetes.NewForConfig(config)
	return c, err
}

// Own says whether the cluster is the one of make cluster-up, whose machine is this one.
func (c *Cluster) Own() bool { return os.Getenv(existingEnv) == "" }

// Kill ends a pod's processes by SIGKILL, so that its containers restart. On an existing cluster the pod is deleted
// without grace instead, which ends them as suddenly.
func (c *Cluster) Kill(ctx context.Context, pod client.Object) error {
	if !c.Own() {
		return c.Client.Delete(ctx, pod, client.GracePeriodSeconds(0))
	}
	return c.Chaos(ctx, "kill", pod.GetNamespace()+"/"+pod.GetName())
}

// Kubectl runs the cluster's own kubectl, or on an existing cluster the one of this machine, and returns what it prints.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.Root, "bin", "cluster"), append([]string{"kubectl"}, args...)...)
	if !c.Own() {
		cmd = exec.CommandContext(ctx, "kubectl", append([]string{"--kubeconfig=" + os.Getenv(existingEnv)}, args...)...)
	}
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return string(out), nil
}

// Chaos runs a tool of the cluster's chaos box. Somebody else's cluster has none.
func (c *Cluster) Chaos(ctx context.Context, args ...string) error {
	if !c.Own() {
		return errNoChaos
	}
	out, err := exec.CommandContext(ctx, filepath.Join(c.Root, "bin", "cluster"), append([]string{"chaos"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("chaos %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// KillAfter kills a pod's processes once that many of its writes are served, and before another is. It returns when the
// counting has begun; what it returns waits for the kill.
func (c *Cluster) KillAfter(ctx context.Context, pod client.Object, writes int) (killed func() error, err error) {
	if !c.Own() {
		return nil, errNoChaos
	}
	name := pod.GetNamespace() + "/" + pod.GetName()
	cmd := exec.CommandContext(ctx, filepath.Join(c.Root, "bin", "cluster"), "chaos", "kill-after", name, "--writes="+strconv.Itoa(writes))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it takes its webhook back
	cmd.WaitDelay = 10 * time.Second
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(log)
	armed, err := lines.ReadString('\n')
	killed = func() error {
		rest, err := io.ReadAll(lines)
		if err := errors.Join(err, cmd.Wait()); err != nil {
			return fmt.Errorf("killing pod %s after %d writes: %w: %s", name, writes, err, strings.TrimSpace(armed+string(rest)))
		}
		return nil
	}
	if err != nil || !strings.HasPrefix(armed, "chaos: ") {
		return nil, errors.Join(fmt.Errorf("killing pod %s after %d writes: the counting did not begin", name, writes), killed())
	}
	return killed, nil
}
