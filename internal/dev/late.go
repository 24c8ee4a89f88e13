package dev

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/config"
	"github.com/detent-dev/detent/internal/controlplane"
)

// startPlane starts etcd and kube-apiserver, which are built first if necessary. It starts the controller manager too if that is
// already built. Otherwise complete builds it while everything else runs.
func (w *world) startPlane(ctx context.Context) error {
	paths, err := controlplane.Binaries(ctx, controlplane.BinaryOptions{Log: w.options.Log}, controlplane.Etcd, controlplane.APIServer)
	if err != nil {
		return err
	}
	if paths.Kubectl == "" {
		if path, err := exec.LookPath(string(controlplane.Kubectl)); err == nil {
			paths.Kubectl = path
		}
	}
	what := "etcd, kube-apiserver and kube-controller-manager"
	if paths.ControllerManager == "" {
		what = "etcd and kube-apiserver"
		w.late = append(w.late, controlplane.ControllerManager)
	}
	if paths.Kubectl == "" {
		w.late = append(w.late, controlplane.Kubectl)
	}
	fmt.Fprintf(w.options.Log, "starting %s on loopback\n", what)
	w.plane, err = controlplane.Start(ctx, controlplane.Options{Paths: paths, Dir: w.options.Dir, Port: w.options.Port, Log: w.options.Log})
	if err != nil {
		return err
	}
	w.admin = w.plane.AdminConfig()
	w.dir = filepath.Dir(w.plane.Kubeconfigs().Admin)
	return w.linkKubectl(paths.Kubectl)
}

// linkKubectl adds kubectl to the directory that the greeting adds to PATH. An empty path does nothing.
func (w *world) linkKubectl(path string) error {
	if path == "" {
		return nil
	}
	if err := os.Symlink(path, filepath.Join(w.dir, string(controlplane.Kubectl))); err != nil {
		return fmt.Errorf("putting kubectl where it is found: %w", err)
	}
	return nil
}

// complete builds and starts, in the background, the programs that were not available when the control plane was started. A
// failure ends Run. The returned function waits until the background work has ended, which is soon after ctx ends.
func (w *world) complete(ctx context.Context, cancel context.CancelCauseFunc) (wait func()) {
	var background sync.WaitGroup
	background.Go(func() {
		for _, program := range w.late {
			if err := w.add(ctx, program); err != nil {
				cancel(err) // without effect after ctx has ended, which is the usual reason
				return
			}
		}
	})
	return background.Wait
}

func (w *world) add(ctx context.Context, program controlplane.Program) error {
	paths, err := controlplane.Binaries(ctx, controlplane.BinaryOptions{Log: w.options.Log, LowPriority: true}, program)
	if err != nil {
		return err
	}
	if program == controlplane.Kubectl {
		if err := w.linkKubectl(paths.Kubectl); err != nil {
			return err
		}
		w.say("kubectl is ready: %s", filepath.Join(w.dir, string(program)))
		return nil
	}
	if err := w.plane.StartControllerManager(ctx, paths.ControllerManager); err != nil {
		return err
	}
	w.say("kube-controller-manager runs: pods can be evicted, garbage is collected")
	return nil
}

// grantEarly binds developers to the parts of the built-in role edit one by one. The controller that aggregates them into that
// role may start minutes later.
func (w *world) grantEarly(ctx context.Context) error {
	if !slices.Contains(w.late, controlplane.ControllerManager) {
		return nil
	}
	parts := []string{"system:aggregate-to-view", "system:aggregate-to-edit"}
	for _, o := range config.Users(w.options.resources()) {
		if o.GetLabels()["rbac.authorization.k8s.io/aggregate-to-edit"] == "true" {
			parts = append(parts, o.GetName())
		}
	}
	for _, part := range parts {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "detent:developers-" + part},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: part},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: controlplane.DeveloperGroup}},
		}
		if err := w.client.Create(ctx, binding); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("binding developers to role %s: %w", part, err)
		}
	}
	return nil
}
