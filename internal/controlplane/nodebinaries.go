package controlplane

import (
	"context"
	"path/filepath"
	"runtime"
)

// NodePaths says where the programs lie that turn a control plane and a machine
// into a cluster that runs pods.
type NodePaths struct {
	Scheduler string
	Kubelet   string
	Proxy     string
}

// NodeBinaries builds the programs of a node from the pins of the control
// plane, on the terms of Binaries, except that ready-made ones are not looked
// for: nobody publishes them together with an API server. They run on Linux.
func NodeBinaries(ctx context.Context, o BinaryOptions) (NodePaths, error) {
	o, err := o.withDefaults()
	if err != nil {
		return NodePaths{}, err
	}
	var found NodePaths
	err = o.built(ctx, []program{
		{"kube-scheduler", kubernetesModule + "/cmd/kube-scheduler", &found.Scheduler},
		{"kubelet", kubernetesModule + "/cmd/kubelet", &found.Kubelet},
		{"kube-proxy", kubernetesModule + "/cmd/kube-proxy", &found.Proxy},
	})
	return found, err
}

// built builds those of progs that no earlier build has left, and says where
// each lies.
func (o BinaryOptions) built(ctx context.Context, progs []program) error {
	p, err := readPins(pinnedMod, pinnedSum)
	if err != nil {
		return err
	}
	dir := filepath.Join(o.Cache, "control-plane", p.key()+"-"+runtime.GOOS+"-"+runtime.GOARCH)
	if err := (&builder{BinaryOptions: o, pins: p, dir: dir}).ensure(ctx, progs); err != nil {
		return err
	}
	for _, prog := range progs {
		*prog.path = filepath.Join(dir, prog.name)
	}
	return nil
}
