package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/utils/clock"
)

// AssetsEnv is the variable with the directory of existing programs, as the
// setup-envtest tool of controller-runtime prints it.
const AssetsEnv = "KUBEBUILDER_ASSETS"

// Program is the file name of a program of a control plane.
type Program string

// The programs of a control plane.
const (
	Etcd              Program = "etcd"
	APIServer         Program = "kube-apiserver"
	ControllerManager Program = "kube-controller-manager"
	Kubectl           Program = "kubectl"
)

// Paths are the paths of the programs of a control plane. Binaries leaves a path
// empty if it did not find the program and was not asked to build it.
type Paths struct {
	Etcd              string
	APIServer         string
	ControllerManager string
	Kubectl           string
}

// BinaryOptions configure where to look for programs and how to build them. The
// zero value is valid.
type BinaryOptions struct {
	// Assets is a directory with existing programs. It must contain etcd and
	// kube-apiserver. kube-controller-manager, which setup-envtest does not
	// download, and kubectl are built if they are missing, and then work best with
	// an API server of their own minor version.
	// Default: $KUBEBUILDER_ASSETS; if that is empty too, all four are built.
	Assets string
	// Cache is the directory in which built programs are kept. Default:
	// $XDG_CACHE_HOME/detent, or ~/.cache/detent.
	Cache string
	// Log receives a line at the start of a build and lines about its progress.
	// Optional; default: none.
	Log io.Writer
	// LowPriority runs builds at a lower CPU priority than other processes.
	LowPriority bool
	// Clock measures the duration of a build. Optional; default: the system's clock.
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

// program is a program with the package it is built from and the variable for
// its path.
type program struct {
	name Program
	pkg  string
	path *string
}

// programs returns the programs of a control plane, with their paths in p.
func programs(p *Paths) []program {
	return []program{
		{Etcd, etcdModule, &p.Etcd},
		{APIServer, kubernetesModule + "/cmd/kube-apiserver", &p.APIServer},
		{ControllerManager, kubernetesModule + "/cmd/kube-controller-manager", &p.ControllerManager},
		{Kubectl, kubernetesModule + "/cmd/kubectl", &p.Kubectl},
	}
}

// Binaries finds the programs of a control plane, and builds the missing ones of
// required; without required, it builds all missing ones. A program that is not
// required is only looked for.
//
// Each program is built only once: a concurrent process waits for the first
// build. A build needs the go command (Go 1.24 or newer), its module proxy or a
// filled module cache, about 4 GB of disk and some minutes. When ctx ends, it
// stops and returns an error.
func Binaries(ctx context.Context, o BinaryOptions, required ...Program) (Paths, error) {
	o, err := o.withDefaults()
	if err != nil {
		return Paths{}, err
	}
	b, err := newBuilder(o)
	if err != nil {
		return Paths{}, err
	}
	var found Paths
	all := programs(&found)
	if o.Assets != "" {
		if err := checkAssets(o.Assets); err != nil {
			return Paths{}, err
		}
	}
	var missing []program
	for _, prog := range all {
		needed := len(required) == 0 || slices.Contains(required, prog.name)
		switch path := filepath.Join(o.Assets, string(prog.name)); {
		case o.Assets != "" && executable(path):
			*prog.path = path
		case executable(b.place(prog)):
			*prog.path = b.place(prog)
		case needed:
			missing = append(missing, prog)
		}
	}
	err = b.ensure(ctx, missing)
	return found, err
}

// checkAssets returns an error if a directory with existing programs is not usable.
func checkAssets(dir string) error {
	var absent, closed []string
	for _, name := range []Program{Etcd, APIServer} {
		path := filepath.Join(dir, string(name))
		switch _, err := os.Stat(path); {
		case executable(path):
		case err == nil:
			closed = append(closed, path)
		default:
			absent = append(absent, string(name))
		}
	}
	switch {
	case len(absent) > 0:
		return fmt.Errorf("looking for the control plane in %s=%s: it has no %s; set %[1]s to a directory that holds etcd and kube-apiserver, as setup-envtest prints it, or unset it to build them",
			AssetsEnv, dir, strings.Join(absent, " and no "))
	case len(closed) > 0:
		return fmt.Errorf("looking for the control plane in %s=%s: %s cannot be executed; make it so (chmod +x), or unset %[1]s to build what is needed",
			AssetsEnv, dir, strings.Join(closed, " and "))
	}
	return nil
}

func names(progs []program) string {
	list := make([]string, 0, len(progs))
	for _, prog := range progs {
		list = append(list, string(prog.name))
	}
	return strings.Join(list, ", ")
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
