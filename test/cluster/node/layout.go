// Package node runs a cluster of one node on this machine, and removes it.
package node

import (
	"net"
	"path/filepath"
)

// Dir contains everything of the cluster. A machine has at most one cluster, because its addresses, rules and cgroups have
// fixed names.
const Dir = "/var/lib/detent-cluster"

const (
	// nodeName is the name of the only node.
	nodeName = "detent"
	// nodeAddress is the address of every server of the cluster except those on loopback. See machine.Device.
	nodeAddress = "10.243.0.1"
	// podNetwork and serviceNetwork, and the addresses of the API server and DNS in the latter.
	podNetwork, serviceNetwork  = "10.244.0.0/24", "10.96.0.0/16"
	serviceAddress, dnsAddress  = "10.96.0.1", "10.96.0.10"
	clusterDomain               = "cluster.local"
	apiServerURL                = "https://" + nodeAddress + ":6443"
	pauseImage                  = "detent.local/pause:1"
	serviceAccountIssuer        = "https://kubernetes.default.svc." + clusterDomain
	storageClass, provisionedBy = "standard", "detent.local/directory"
)

// Names of the components, in the order of their start.
const (
	Registry          = "registry"
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	Containerd        = "containerd"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelet           = "kubelet"
	Proxy             = "kube-proxy"
	Provisioner       = "provisioner"
)

// Kubeconfig is the path of the kubeconfig of the admin.
func Kubeconfig() string { return path("kubeconfig") }

// VolumesDir is the directory of the volumes, each by the name of its PersistentVolume.
func VolumesDir() string { return path("volumes") }

func path(elem ...string) string { return filepath.Join(append([]string{Dir}, elem...)...) }

// podRange is podNetwork, parsed.
func podRange() *net.IPNet {
	_, network, err := net.ParseCIDR(podNetwork)
	if err != nil {
		panic(err) // it is a constant
	}
	return network
}
