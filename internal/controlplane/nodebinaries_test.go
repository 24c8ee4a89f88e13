package controlplane

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNodeBinariesShareTheDirectoryOfTheControlPlane(t *testing.T) {
	// Assets are for the control plane: they hold no node.
	t.Setenv(AssetsEnv, assets(t, "etcd", "kube-apiserver"))
	runs := fakeGo(t, buildAll)
	o := BinaryOptions{Cache: t.TempDir()}
	var got NodePaths
	for range 2 { // the second time finds everything
		var err error
		if got, err = NodeBinaries(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	plane, err := Binaries(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(plane.Kubectl)
	want := NodePaths{Scheduler: filepath.Join(dir, "kube-scheduler"), Kubelet: filepath.Join(dir, "kubelet"), Proxy: filepath.Join(dir, "kube-proxy")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	built := []string{
		"k8s.io/kubernetes/cmd/kube-scheduler k8s.io/kubernetes/cmd/kubelet k8s.io/kubernetes/cmd/kube-proxy",
		"k8s.io/kubernetes/cmd/kube-controller-manager k8s.io/kubernetes/cmd/kubectl",
	}
	if diff := cmp.Diff(built, lines(t, runs)); diff != "" {
		t.Errorf("built (-want +got):\n%s", diff)
	}
}
