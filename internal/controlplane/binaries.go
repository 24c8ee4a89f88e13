package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/utils/clock"
)

// AssetsEnv names the directory with ready-made programs, as the setup-envtest
// tool of controller-runtime prints it.
const AssetsEnv = "KUBEBUILDER_ASSETS"

// Paths says where the programs of a control plane lie.
type Paths struct {
	Etcd              string
	APIServer         string
	ControllerManager string
	Kubectl           string
}

// BinaryOptions says where to look and where to build. The zero value is the
// usual one.
type BinaryOptions struct {
	// Assets is a directory with ready-made programs. etcd and kube-apiserver
	// must be in it; kube-controller-manager and kubectl are built if they are
	// not, and then fit an API server of their own minor version best.
	// Default: $KUBEBUILDER_ASSETS; when that is empty too, all four are built.
	Assets string
	// Cache is the directory under which built programs are kept. Default:
	// $XDG_CACHE_HOME/detent, or ~/.cache/detent.
	Cache string
	// Log takes one line at the start of a build and one now and then while it
	// goes on. Default: nothing is printed.
	Log io.Writer
	// Clock measures how long a build takes. Default: the system's.
	Clock clock.WithTicker
}

func (o BinaryOptions) withDefaults() (BinaryOptions, error) {
	if o.Assets == "" {
		o.Assets = os.Getenv(AssetsEnv)
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Cache != "" {
		return o, nil
	}
	base := os.Getenv("XDG_CACHE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return o, fmt.Errorf("finding the cache directory: %w; set XDG_CACHE_HOME", err)
		}
		base = filepath.Join(home, ".cache")
	}
	o.Cache = filepath.Join(base, "detent")
	return o, nil
}

// program is one of them: its file name, the package it is built from, and where
// its path is wanted.
type program struct {
	name, pkg string
	path      *string
}

// programs are those of a control plane, with their places in p.
func programs(p *Paths) []program {
	return []program{
		{"etcd", etcdModule, &p.Etcd},
		{"kube-apiserver", kubernetesModule + "/cmd/kube-apiserver", &p.APIServer},
		{"kube-controller-manager", kubernetesModule + "/cmd/kube-controller-manager", &p.ControllerManager},
		{"kubectl", kubernetesModule + "/cmd/kubectl", &p.Kubectl},
	}
}

// Binaries finds the programs of a control plane and builds those that are
// missing, once: a second process that asks at the same time waits for the
// first. A build needs the go command (Go 1.24 or newer), its module proxy or a
// filled module cache, about 4 GB of disk and some minutes; it ends early, with
// an error, when ctx does.
func Binaries(ctx context.Context, o BinaryOptions) (Paths, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Paths{}, err
	}
	var found Paths
	missing, err := fromAssets(o.Assets, &found)
	if err != nil || len(missing) == 0 {
		return found, err
	}
	err = o.built(ctx, missing)
	return found, err
}

// fromAssets fills in what lies in dir and returns what does not.
func fromAssets(dir string, found *Paths) (missing []program, err error) {
	if dir == "" {
		return programs(found), nil
	}
	for _, prog := range programs(found) {
		path := filepath.Join(dir, prog.name)
		if executable(path) {
			*prog.path = path
			continue
		}
		missing = append(missing, prog)
	}
	if found.Etcd == "" || found.APIServer == "" {
		return nil, fmt.Errorf("looking for the control plane in %s=%s: it has no %s; point it to a directory that holds etcd and kube-apiserver, or unset it to build them",
			AssetsEnv, dir, names(missing))
	}
	return missing, nil
}

func names(progs []program) string {
	list := make([]string, 0, len(progs))
	for _, prog := range progs {
		list = append(list, prog.name)
	}
	return strings.Join(list, ", ")
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// absent returns the programs that do not lie in dir.
func absent(dir string, progs []program) []program {
	var missing []program
	for _, prog := range progs {
		if !executable(filepath.Join(dir, prog.name)) {
			missing = append(missing, prog)
		}
	}
	return missing
}
