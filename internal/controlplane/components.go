package controlplane

import (
	"strconv"
	"strings"
)

// File names in the run directory.
const (
	etcdSocket     = "etcd.sock"
	etcdPeerSocket = "peer.sock"
	authorityFile  = "ca.crt"
	apiServerPair  = "apiserver"
	managerPair    = "controller-manager"
	tokenKeyFile   = "service-accounts.key"
)

// serviceAccountIssuer is the issuer of clusters created by kubeadm.
const serviceAccountIssuer = "https://kubernetes.default.svc.cluster.local"

// controllers are the enabled controllers, by their names in Kubernetes 1.34
// (cmd/kube-controller-manager/names). All others are disabled: they would write
// to objects that the simulator owns, such as the status of a Deployment, or wait
// for components that do not exist.
func controllers() []string {
	return []string{
		"clusterrole-aggregation-controller", // aggregates the built-in roles view, edit and admin
		"disruption-controller",              // without it every eviction under a budget returns 429
		"garbage-collector-controller",
		"namespace-controller",
		"serviceaccount-controller",
		"serviceaccount-token-controller",
		"validatingadmissionpolicy-status-controller", // type checks policies
	}
}

// etcdArgs listens on sockets in a directory that only this user can enter, and
// therefore needs neither ports nor certificates. fsync is off: the data never
// outlives the process.
func etcdArgs(d *runDir) []string {
	return []string{
		"--data-dir=" + d.file("etcd"),
		"--listen-client-urls=" + socketURL(etcdSocket),
		// Required with the former flag; must be a host and a port. It is not used, and
		// nothing listens on it.
		"--advertise-client-urls=http://localhost:2379",
		"--listen-peer-urls=" + socketURL(etcdPeerSocket),
		"--unsafe-no-fsync",
		"--quota-backend-bytes=" + strconv.Itoa(4<<30),
		"--log-level=warn",
	}
}

func apiServerArgs(d *runDir, port int) []string {
	return []string{
		"--etcd-servers=" + socketURL(etcdSocket),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", // no pod could reach a loopback address
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + d.file(apiServerPair+".crt"),
		"--tls-private-key-file=" + d.file(apiServerPair+".key"),
		"--client-ca-file=" + d.file(authorityFile),
		"--authorization-mode=RBAC",
		"--service-account-issuer=" + serviceAccountIssuer,
		"--service-account-key-file=" + d.file(tokenKeyFile),
		"--service-account-signing-key-file=" + d.file(tokenKeyFile),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--allow-privileged=true",
		"--profiling=false",
	}
}

// managerArgs gives each controller its own service account, as in real
// clusters, so that admission policies and audit logs see the same names.
func managerArgs(d *runDir, port int) []string {
	return []string{
		"--kubeconfig=" + d.file(managerKubeconfig),
		"--authentication-kubeconfig=" + d.file(managerKubeconfig),
		"--authorization-kubeconfig=" + d.file(managerKubeconfig),
		"--authentication-skip-lookup=true", // no aggregation layer here, so no proxy headers to trust
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + d.file(managerPair+".crt"),
		"--tls-private-key-file=" + d.file(managerPair+".key"),
		"--controllers=" + strings.Join(controllers(), ","),
		"--leader-elect=false", // there is only one replica
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + d.file(tokenKeyFile),
		"--root-ca-file=" + d.file(authorityFile),
		"--profiling=false",
	}
}

// socketURL returns the URL of a socket in the working directory of the program,
// which is the run directory. An absolute path could exceed the maximum length
// of a unix socket's address of about a hundred bytes.
func socketURL(name string) string { return "unix://" + name }
