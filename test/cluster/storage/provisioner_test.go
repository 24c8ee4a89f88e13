package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// A claim may be provisioned again although its volume exists: what is stored there stays. What an interrupted call has left does not.
func TestProvision(t *testing.T) {
	reclaim := corev1.PersistentVolumeReclaimDelete
	options := controller.ProvisionOptions{
		PVName: "pvc-1", PVC: &corev1.PersistentVolumeClaim{}, StorageClass: &storagev1.StorageClass{ReclaimPolicy: &reclaim}, SelectedNodeName: "node",
	}
	broken := errors.New("no loop device")
	for name, c := range map[string]struct {
		// before is called with the directory of the volume.
		before func(t *testing.T, path string)
		// mounted is true if the file system is mounted there.
		mounted bool
		fails   error
		// want is whether a volume is returned, stored whether a file from before is there afterwards, and left whether the directory is.
		want, stored, left bool
	}{
		"a first call":                           {want: true, left: true},
		"again, once it is mounted":              {before: stores, mounted: true, want: true, stored: true, left: true},
		"after a call that was interrupted":      {before: stores, want: true, left: true},
		"a failure leaves nothing":               {fails: broken},
		"a failure after an interruption either": {before: stores, fails: broken},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "pvc-1")
			if c.before != nil {
				c.before(t, path)
			}
			p := &provisioner{
				dir: dir, run: func(context.Context, string, ...string) error { return c.fails },
				mounts: func(dir string) ([]string, error) {
					if c.mounted {
						return []string{dir}, nil
					}
					return nil, nil
				},
			}
			volume, _, err := p.Provision(t.Context(), options)
			if !errors.Is(err, c.fails) || (volume != nil) != c.want {
				t.Errorf("volume %v, error %v, want a volume: %v, and error %v", volume, err, c.want, c.fails)
			}
			if got := exists(t, filepath.Join(path, "stored")); got != c.stored {
				t.Errorf("the file from before is there: %v, want %v", got, c.stored)
			}
			if got := exists(t, path); got != c.left {
				t.Errorf("the directory is there: %v, want %v", got, c.left)
			}
		})
	}
}

func stores(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "stored"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}
