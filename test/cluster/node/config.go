package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// containerdConfig returns the configuration for containerd 1.6. Without CAP_SYS_RESOURCE runc cannot lower a process's oom
// score, and fails without a message; restrict_oom_score_adj avoids the attempt. Network namespaces are in the cluster's
// directory, so that they are removed with it.
func containerdConfig() string {
	return fmt.Sprintf(`version = 2
root = %q
state = %q
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing"]
[grpc]
  address = %q
[ttrpc]
  address = %q
[plugins."io.containerd.internal.v1.opt"]
  path = %q
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = %q
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = %q
`, path("containerd", "root"), path("containerd", "state"), containerdSocket(), containerdSocket()+".ttrpc", path("containerd", "opt"),
		pauseImage, path("cni", "conf"), path("registries"))
}

func containerdSocket() string { return path("containerd", "containerd.sock") }

// networkConfig connects each pod by its own pair of devices, and the machine routes between them: this does not depend on
// whether the kernel passes the frames of a bridge to its packet filter. No pod can reach another machine.
func networkConfig() string {
	return fmt.Sprintf(`{
  "cniVersion": "0.4.0",
  "name": "detent",
  "plugins": [{
    "type": "ptp",
    "ipMasq": false,
    "ipam": {"type": "host-local", "dataDir": %q, "ranges": [[{"subnet": %q}]], "routes": [{"dst": "0.0.0.0/0"}]}
  }]
}
`, path("cni", "addresses"), podNetwork)
}

// mirrorConfig makes containerd pull every image from our registry, independent of the registry in its name.
func mirrorConfig(registry string) string {
	return fmt.Sprintf("server = %q\n[host.%q]\n  capabilities = [\"pull\", \"resolve\"]\n", registry, registry)
}

// kubeletConfig returns the configuration for kubelet 1.34. Swap, cgroup v1 and a disk that other programs have filled do
// not prevent tests.
func kubeletConfig() string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %[1]s
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %[2]s}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
clusterDNS: [%[3]s]
clusterDomain: %[4]s
containerRuntimeEndpoint: unix://%[5]s
enforceNodeAllocatable: []
evictionHard: {imagefs.available: 1%%, memory.available: 100Mi, nodefs.available: 1%%, nodefs.inodesFree: 1%%}
failCgroupV1: false
failSwapOn: false
healthzBindAddress: %[1]s
imageGCHighThresholdPercent: 100
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
maxPods: 200
podLogsDir: %[6]s
readOnlyPort: 0
registerNode: true
resolvConf: %[7]s
rotateCertificates: false
serializeImagePulls: false
shutdownGracePeriod: 0s
tlsCertFile: %[8]s
tlsPrivateKeyFile: %[9]s
volumePluginDir: %[10]s
`, nodeAddress, path("pki", "ca.crt"), dnsAddress, clusterDomain, containerdSocket(), path("pod-logs"), path("resolv.conf"),
		path("pki", Kubelet+".crt"), path("pki", Kubelet+".key"), path("kubelet", "volume-plugins"))
}

// writeConfigs writes the configuration files of the node's programs.
func writeConfigs(registry string) error {
	var errs []error
	for name, content := range map[string]string{
		path("containerd", "config.toml"):            containerdConfig(),
		path("cni", "conf", "detent.conflist"):       networkConfig(),
		path("registries", "_default", "hosts.toml"): mirrorConfig(registry),
		path("kubelet.yaml"):                         kubeletConfig(),
		path("resolv.conf"):                          "",
	} {
		errs = append(errs, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644))
	}
	return errors.Join(errs...)
}
