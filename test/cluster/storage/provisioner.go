// Package storage creates the volumes of claims: directories of this machine.
package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"

	"github.com/detent-dev/detent/test/cluster/machine"
)

// Run provisions claims of the storage classes with the provisioner's name, until ctx ends.
func Run(ctx context.Context, kubeconfig, name, dir string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("starting the provisioner: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("starting the provisioner: %w", err)
	}
	controller.NewProvisionController(ctx, client, name, &provisioner{dir: dir, mounts: machine.Mounts, run: run}, controller.LeaderElection(false)).Run(ctx)
	return nil
}

// provisioner creates each volume as a file system in a sparse file, and mounts it, so that a volume has a limited size
// and can run full.
type provisioner struct {
	dir string
	// mounts returns the mount points at and below a directory.
	mounts func(dir string) ([]string, error)
	// run executes a command.
	run func(ctx context.Context, name string, args ...string) error
}

// Provision creates the volume of a claim. It is called again for a volume that exists if the object of the volume is not in the controller's
// cache yet: a process may use the file system by then, which stays as it is.
func (p *provisioner) Provision(ctx context.Context, o controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	path := filepath.Join(p.dir, o.PVName)
	size := o.PVC.Spec.Resources.Requests[corev1.ResourceStorage]
	mounted, err := p.mounts(path)
	if err == nil && len(mounted) == 0 {
		err = p.mount(ctx, path, size.Value())
	}
	if err != nil {
		return nil, controller.ProvisioningFinished, fmt.Errorf("making volume %s: %w", o.PVName, err)
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *o.StorageClass.ReclaimPolicy,
			AccessModes:                   o.PVC.Spec.AccessModes,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: o.PVC.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: path}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{o.SelectedNodeName}}},
			}}}},
		},
	}, controller.ProvisioningFinished, nil
}

// Delete deletes the directory and the file of a volume.
func (p *provisioner) Delete(_ context.Context, volume *corev1.PersistentVolume) error {
	if volume.Spec.Local == nil || filepath.Dir(volume.Spec.Local.Path) != p.dir {
		return fmt.Errorf("removing volume %s: it is none of ours", volume.Name)
	}
	return unmount(volume.Spec.Local.Path)
}

// image is the path of the file with the file system that is mounted at path.
func image(path string) string { return path + ".ext4" }

// mount makes the file system of a volume, from nothing: what is there is left of a call that was interrupted.
func (p *provisioner) mount(ctx context.Context, path string, size int64) (err error) {
	if err := unmount(path); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, unmount(path))
		}
	}()
	if err := os.Mkdir(path, 0o777); err != nil {
		return err
	}
	f, err := os.Create(image(path))
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		return err
	}
	if err := p.run(ctx, "mkfs.ext4", "-q", "-m", "0", image(path)); err != nil {
		return err
	}
	if err := p.run(ctx, "mount", "-o", "loop", image(path), path); err != nil {
		return err
	}
	return os.Chmod(path, 0o777)
}

func run(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(out))
	}
	return nil
}

func unmount(path string) error {
	if err := machine.Unmount(path); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(path), os.RemoveAll(image(path)))
}
