package node

import (
	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/test/cluster/component"
)

// programs are the programs of the components.
type programs struct {
	plane controlplane.Paths
	node  controlplane.NodePaths
	// self is this program, which is also the registry and the provisioner.
	self string
}

// etcdSocket is relative to the working directory of the processes that use it, because the address of a unix
// socket has a maximum length.
const etcdSocket = "unix://etcd.sock"

func etcd(p *programs) component.Spec {
	return component.Spec{Name: Etcd, Path: p.plane.Etcd, Dir: Dir, Args: []string{
		"--data-dir=" + path("etcd"),
		"--listen-client-urls=" + etcdSocket,
		"--advertise-client-urls=http://localhost:2379", // required, and not used
		"--listen-peer-urls=unix://etcd-peer.sock",
		"--unsafe-no-fsync", // the data need not survive the machine
		"--quota-backend-bytes=4294967296",
		"--log-level=warn",
	}}
}

func apiServer(p *programs) component.Spec {
	return component.Spec{Name: APIServer, Path: p.plane.APIServer, Dir: Dir, Args: []string{
		"--etcd-servers=" + etcdSocket,
		"--bind-address=" + nodeAddress,
		"--advertise-address=" + nodeAddress,
		"--secure-port=6443",
		"--tls-cert-file=" + path("pki", APIServer+".crt"),
		"--tls-private-key-file=" + path("pki", APIServer+".key"),
		"--client-ca-file=" + path("pki", "ca.crt"),
		"--kubelet-client-certificate=" + path("pki", "kubelet-client-client.crt"),
		"--kubelet-client-key=" + path("pki", "kubelet-client-client.key"),
		"--kubelet-certificate-authority=" + path("pki", "ca.crt"),
		"--kubelet-preferred-address-types=InternalIP", // the node's name cannot be resolved
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--service-account-issuer=" + serviceAccountIssuer,
		"--service-account-key-file=" + path("pki", "service-accounts.key"),
		"--service-account-signing-key-file=" + path("pki", "service-accounts.key"),
		"--service-cluster-ip-range=" + serviceNetwork,
		"--allow-privileged=true",
		"--profiling=false",
	}}
}

func containerd(*programs) component.Spec {
	return component.Spec{Name: Containerd, Path: "/usr/bin/containerd", Dir: Dir, Args: []string{"--config=" + path("containerd", "config.toml")}}
}

func controllerManager(p *programs) component.Spec {
	return component.Spec{Name: ControllerManager, Path: p.plane.ControllerManager, Dir: Dir, Args: []string{
		"--kubeconfig=" + kubeconfig(ControllerManager),
		"--secure-port=0",
		"--leader-elect=false",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + path("pki", "service-accounts.key"),
		"--root-ca-file=" + path("pki", "ca.crt"),
		//  A node whose kubelet is stopped by a test keeps its pods that long.
		"--node-monitor-grace-period=40s",
	}}
}

func scheduler(p *programs) component.Spec {
	return component.Spec{Name: Scheduler, Path: p.node.Scheduler, Dir: Dir, Args: []string{
		"--kubeconfig=" + kubeconfig(Scheduler), "--secure-port=0", "--leader-elect=false",
	}}
}

func kubelet(p *programs) component.Spec {
	return component.Spec{Name: Kubelet, Path: p.node.Kubelet, Dir: Dir, Args: []string{
		"--config=" + path("kubelet.yaml"),
		"--kubeconfig=" + kubeconfig(Kubelet),
		"--root-dir=" + path("kubelet"),
		"--cert-dir=" + path("kubelet", "pki"),
		"--hostname-override=" + nodeName,
		"--node-ip=" + nodeAddress,
	}}
}

func proxy(p *programs) component.Spec {
	return component.Spec{Name: Proxy, Path: p.node.Proxy, Dir: Dir, Args: []string{
		"--kubeconfig=" + kubeconfig(Proxy),
		"--hostname-override=" + nodeName,
		"--proxy-mode=nftables",
		"--cluster-cidr=" + podNetwork,
		"--healthz-bind-address=" + nodeAddress + ":10256",
		"--metrics-bind-address=" + nodeAddress + ":10249",
		//  Do not change the limits of the kernel.
		"--conntrack-max-per-core=0", "--conntrack-min=0", "--conntrack-tcp-timeout-established=0s", "--conntrack-tcp-timeout-close-wait=0s",
	}}
}

func registry(p *programs, address, images string) component.Spec {
	return component.Spec{Name: Registry, Path: p.self, Dir: Dir, Args: []string{"registry", "--listen=" + address, "--images=" + images}}
}

func provisioner(p *programs) component.Spec {
	return component.Spec{Name: Provisioner, Path: p.self, Dir: Dir, Args: []string{
		"provisioner", "--kubeconfig=" + kubeconfig(Provisioner), "--name=" + provisionedBy, "--dir=" + path("volumes"),
	}}
}
