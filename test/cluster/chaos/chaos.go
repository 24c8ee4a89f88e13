// Package chaos injects faults into the cluster, one at a time. Each fault is logged and can be reverted.
package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/test/cluster/machine"
	"github.com/detent-dev/detent/test/cluster/node"
)

// Box injects faults into the cluster of this machine.
type Box struct {
	// Log gets a line for each action. The same line is appended to a file next to the cluster's other logs. Required.
	Log io.Writer
}

// done logs an action.
func (b Box) done(format string, args ...any) error {
	line := time.Now().UTC().Format(time.RFC3339Nano) + " " + fmt.Sprintf(format, args...) + "\n"
	f, err := os.OpenFile(filepath.Join(node.Dir, "chaos.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	_, shown := io.WriteString(b.Log, "chaos: "+line)
	return errors.Join(err, f.Close(), shown)
}

// Idle waits, so that the next fault happens at a random moment.
func (b Box) Idle(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	if err := b.done("idle for %s", d.Round(time.Millisecond)); err != nil {
		return err
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Kill kills the processes of a container with SIGKILL. The kubelet restarts it.
func (b Box) Kill(ctx context.Context, pod, container string) error {
	return b.signal(ctx, pod, container, syscall.SIGKILL, "killed")
}

// Pause stops the processes of a container with SIGSTOP until Resume: they exist and answer nothing.
func (b Box) Pause(ctx context.Context, pod, container string) error {
	return b.signal(ctx, pod, container, syscall.SIGSTOP, "paused")
}

// Resume reverts Pause.
func (b Box) Resume(ctx context.Context, pod, container string) error {
	return b.signal(ctx, pod, container, syscall.SIGCONT, "resumed")
}

func (b Box) signal(ctx context.Context, name, container string, sig syscall.Signal, done string) error {
	pod, err := getPod(ctx, name)
	if err != nil {
		return err
	}
	ids := containerIDs(pod, container)
	if len(ids) == 0 {
		return fmt.Errorf("looking for container %q of pod %s: it does not run", container, name)
	}
	if err := signalAll(pod, ids, sig); err != nil {
		return err
	}
	return b.done("%s pod %s %s", done, name, container)
}

// Stop kills a component of the cluster, such as kube-apiserver, until Start. Its connections break at once.
func (b Box) Stop(ctx context.Context, component string) error {
	if _, running := node.Components().PID(component); !running {
		return fmt.Errorf("stopping %s: no such component runs", component)
	}
	if err := node.Components().Stop(ctx, component, syscall.SIGKILL); err != nil {
		return err
	}
	return b.done("stopped %s", component)
}

// Start starts a component that was stopped. It does nothing if the component is running.
func (b Box) Start(ctx context.Context, component string) error {
	names, err := node.Components().Names()
	if err != nil || !slices.Contains(names, component) {
		return errors.Join(fmt.Errorf("starting %s: there is no such component", component), err)
	}
	if _, running := node.Components().PID(component); running {
		return nil
	}
	if err := node.Components().Restart(ctx, component); err != nil {
		return err
	}
	return b.done("started %s", component)
}

// Cut drops all packets from and to a pod, without an error to the sender, until Mend. The kubelet's probes of the pod
// fail as well.
func (b Box) Cut(ctx context.Context, name string) error {
	pod, err := getPod(ctx, name)
	if err != nil {
		return err
	}
	if err := machine.CutAddress(ctx, pod.Status.PodIP); err != nil {
		return err
	}
	return b.done("cut pod %s with address %s off", name, pod.Status.PodIP)
}

// Mend reverts every Cut.
func (b Box) Mend(ctx context.Context) error {
	if err := machine.MendAddresses(ctx); err != nil {
		return err
	}
	return b.done("reverted all cuts")
}

// Undo reverts every fault that may have been injected.
func (b Box) Undo(ctx context.Context) error {
	names, err := node.Components().Names()
	if err != nil {
		return err
	}
	errs := []error{b.Mend(ctx)}
	for _, name := range names {
		errs = append(errs, b.Start(ctx, name))
	}
	pids, err := machine.Processes()
	errs = append(errs, err)
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, b.drain(), disarm(ctx), b.done("reverted all faults"))...)
}

// disarm deletes the webhook of a KillAfter that was killed. It retries, because the API server may have been started
// only now.
func disarm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, armTimeout)
	defer cancel()
	return machine.Await(ctx, "no webhook of ours is left", func() (bool, error) {
		_, err := node.Kubectl(ctx, "delete", "validatingwebhookconfiguration", triggerName, "--ignore-not-found")
		return err == nil, nil
	})
}

// getPod reads the pod with the name namespace/name.
func getPod(ctx context.Context, name string) (*corev1.Pod, error) {
	namespace, short, found := strings.Cut(name, "/")
	if !found {
		return nil, fmt.Errorf("looking for pod %q: it is written namespace/name", name)
	}
	out, err := node.Kubectl(ctx, "get", "pod", "--namespace="+namespace, short, "--output=json")
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{}
	return pod, json.Unmarshal(out, pod)
}

// containerIDs returns the ids of a pod's running containers, or of the one with that name.
func containerIDs(pod *corev1.Pod, name string) []string {
	var ids []string
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		_, id, found := strings.Cut(c.ContainerID, "://")
		if found && c.State.Running != nil && (name == "" || c.Name == name) {
			ids = append(ids, id)
		}
	}
	return ids
}
