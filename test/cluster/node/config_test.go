package node

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/internal/controlplane"
)

func TestConfigsParse(t *testing.T) {
	var network, kubelet map[string]any
	if err := json.Unmarshal([]byte(networkConfig()), &network); err != nil {
		t.Errorf("network: %v", err)
	}
	if err := yaml.UnmarshalStrict([]byte(kubeletConfig()), &kubelet); err != nil {
		t.Errorf("kubelet: %v", err)
	}
	if kubelet["clusterDNS"].([]any)[0] != dnsAddress || !strings.Contains(string(manifests), "clusterIP: "+dnsAddress+"\n") {
		t.Error("the kubelet gives pods another address than that of DNS")
	}
	if !strings.Contains(string(manifests), "provisioner: "+provisionedBy+"\n") {
		t.Error("no provisioner serves the storage class")
	}
}

func TestConfigsUseOnlyTheDirectory(t *testing.T) {
	p := &programs{plane: controlplane.Paths{Etcd: "etcd", APIServer: "api", ControllerManager: "kcm"}, node: controlplane.NodePaths{Scheduler: "s", Kubelet: "k", Proxy: "p"}, self: "self"}
	allowed := []string{Dir, "/usr/lib/cni", "/usr/bin/containerd"}
	check := func(where, text string) {
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n\t\"'=,[]{}", r) }) {
			word = strings.TrimPrefix(word, "unix://")
			if strings.HasPrefix(word, "/") && !slices.ContainsFunc(allowed, func(a string) bool { return strings.HasPrefix(word, a) }) {
				t.Errorf("%s names %s", where, word)
			}
		}
	}
	for name, text := range map[string]string{"containerd": containerdConfig(), "kubelet": kubeletConfig(), "network": networkConfig()} {
		check(name, text)
	}
	for _, spec := range []struct {
		name string
		args []string
	}{
		{Etcd, etcd(p).Args}, {APIServer, apiServer(p).Args}, {Containerd, containerd(p).Args}, {ControllerManager, controllerManager(p).Args},
		{Scheduler, scheduler(p).Args}, {Kubelet, kubelet(p).Args}, {Proxy, proxy(p).Args}, {Provisioner, provisioner(p).Args},
	} {
		check(spec.name, strings.Join(spec.args, " "))
	}
}

func TestUpUsesExistingCluster(t *testing.T) {
	file := t.TempDir() + "/kubeconfig"
	t.Setenv(ExistingEnv, file)
	var log strings.Builder
	if _, err := Up(t.Context(), Options{Log: &log}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("Up with a kubeconfig that is not there: %v", err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Up(t.Context(), Options{Log: &log}); err != nil || got != file {
		t.Errorf("Up() = %q, %v; want %q", got, err, file)
	}
	if err := Down(t.Context(), &log); err != nil {
		t.Error(err)
	}
}
