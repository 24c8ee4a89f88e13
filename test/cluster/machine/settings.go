package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// settings returns the names of the kernel settings that kubelet, kube-proxy and the CNI plugins change.
func settings() []string {
	return []string{
		"kernel/keys/root_maxbytes", "kernel/keys/root_maxkeys", "kernel/panic", "kernel/panic_on_oops",
		"net/ipv4/conf/all/route_localnet", "net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding",
		"net/netfilter/nf_conntrack_max", "net/netfilter/nf_conntrack_tcp_be_liberal",
		"net/netfilter/nf_conntrack_tcp_timeout_close_wait", "net/netfilter/nf_conntrack_tcp_timeout_established",
		"vm/overcommit_memory", "vm/panic_on_oom",
	}
}

// Settings reads the kernel settings that the cluster changes. A setting that this kernel does not have is
// absent.
func Settings() map[string]string {
	found := map[string]string{}
	for _, name := range settings() {
		if data, err := os.ReadFile(filepath.Join("/proc/sys", name)); err == nil {
			found[name] = strings.TrimSpace(string(data))
		}
	}
	return found
}

// RestoreSettings restores the settings that have changed.
func RestoreSettings(before map[string]string) error {
	var errs []error
	now := Settings()
	for name, value := range before {
		if now[name] == value {
			continue
		}
		if err := os.WriteFile(filepath.Join("/proc/sys", name), []byte(value), 0); err != nil {
			errs = append(errs, fmt.Errorf("restoring the kernel's setting %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
