package controlplane

import "context"

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
	b, err := newBuilder(o)
	if err != nil {
		return NodePaths{}, err
	}
	var found NodePaths
	err = b.ensure(ctx, []program{
		{"kube-scheduler", kubernetesModule + "/cmd/kube-scheduler", &found.Scheduler},
		{"kubelet", kubernetesModule + "/cmd/kubelet", &found.Kubelet},
		{"kube-proxy", kubernetesModule + "/cmd/kube-proxy", &found.Proxy},
	})
	return found, err
}
