package node

import (
	"errors"
	"os"
	"time"

	"k8s.io/client-go/rest"

	"github.com/detent-dev/detent/internal/controlplane"
	"github.com/detent-dev/detent/internal/controlplane/authority"
)

// identities returns the users of the API server, with their names and groups as in every
// cluster.
func identities() map[string]struct{ user, group string } {
	return map[string]struct{ user, group string }{
		"admin":           {controlplane.AdminUser, "system:masters"},
		ControllerManager: {"system:kube-controller-manager", ""},
		Scheduler:         {"system:kube-scheduler", ""},
		Kubelet:           {"system:node:" + nodeName, "system:nodes"},
		Proxy:             {"system:kube-proxy", ""},
		//  The API server itself, when it requests logs from a kubelet.
		"kubelet-client": {"kube-apiserver-kubelet-client", "system:masters"},
		//  Only the provisioner creates volumes.
		Provisioner: {"detent:provisioner", "system:masters"},
	}
}

// writeCredentials creates a certificate for every server and a kubeconfig for each client of the
// API server.
func writeCredentials(now time.Time) error {
	a, err := authority.New(now)
	if err != nil {
		return err
	}
	key, err := authority.NewKey()
	if err != nil {
		return err
	}
	server, err := a.Server(APIServer, nodeAddress, serviceAddress, "kubernetes", "kubernetes.default", "kubernetes.default.svc."+clusterDomain)
	if err != nil {
		return err
	}
	kubelet, err := a.Server(nodeName, nodeAddress, nodeName)
	if err != nil {
		return err
	}
	errs := []error{
		os.WriteFile(path("pki", "ca.crt"), a.PEM(), 0o600),
		os.WriteFile(path("pki", "service-accounts.key"), key, 0o600),
		writePair(APIServer, server),
		writePair(Kubelet, kubelet),
	}
	for name, id := range identities() {
		var groups []string
		if id.group != "" {
			groups = []string{id.group}
		}
		pair, err := a.Client(id.user, groups...)
		errs = append(errs, err, writePair(name+"-client", pair), controlplane.WriteKubeconfig(kubeconfig(name), &rest.Config{
			Host: apiServerURL, TLSClientConfig: rest.TLSClientConfig{CAData: a.PEM(), CertData: pair.Cert, KeyData: pair.Key},
		}))
	}
	return errors.Join(errs...)
}

func kubeconfig(name string) string {
	if name == "admin" {
		return Kubeconfig()
	}
	return path("pki", name+".kubeconfig")
}

func writePair(name string, pair authority.Pair) error {
	return errors.Join(
		os.WriteFile(path("pki", name+".crt"), pair.Cert, 0o600),
		os.WriteFile(path("pki", name+".key"), pair.Key, 0o600),
	)
}
