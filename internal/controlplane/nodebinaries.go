package controlplane

import "context"

// NodePaths are the paths of the programs that a machine needs, in addition to a
// control plane, to run pods.
type NodePaths struct {
	Scheduler string
	Kubelet   string
	Proxy     string
}

// NodeBinaries builds the programs of a node from the pins of the control plane,
// like Binaries. It does not look for existing programs, because none are
// published together with an API server. They run on Linux.
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
