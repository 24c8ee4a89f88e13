package machine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
)

// Device is the network device with the node's address. It is a bridge without ports: other machines have no route to its
// address, and every kernel can create it.
const Device = "detent0"

// podDevices is the prefix of the devices of pods on the host's side. Source: the ptp plugin.
const podDevices = "veth"

func run(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// AddDevice creates the device with the node's address. It fails if the address is in use.
func AddDevice(ctx context.Context, ip net.IP) error {
	if ifaces, err := net.InterfaceAddrs(); err == nil {
		for _, a := range ifaces {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
				return fmt.Errorf("giving the node its address: %s is in use already", ip)
			}
		}
	}
	return errors.Join(
		run(ctx, "ip", "link", "add", Device, "type", "bridge"),
		run(ctx, "ip", "address", "add", ip.String()+"/32", "dev", Device),
		run(ctx, "ip", "link", "set", Device, "up"),
	)
}

// Devices returns the devices of the cluster: the node's own, and those of pods, which are identified by their addresses.
func Devices(pods *net.IPNet) ([]string, error) {
	ifaces, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var found []string
	for i := range ifaces {
		d := &ifaces[i]
		if d.Name == Device || strings.HasPrefix(d.Name, podDevices) && holds(d, pods) {
			found = append(found, d.Name)
		}
	}
	return found, nil
}

// holds reports whether a device has an address in a network.
func holds(d *net.Interface, network *net.IPNet) bool {
	addrs, err := d.Addrs()
	if err != nil {
		return false
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && network.Contains(n.IP) {
			return true
		}
	}
	return false
}

// RemoveNetwork removes the cluster's devices and rules. The kernel removes a pod's device shortly after the last process in
// the pod's network has exited; removing it a second time is not an error.
func RemoveNetwork(ctx context.Context, pods *net.IPNet) error {
	err := Await(ctx, "the cluster's network devices are gone", func() (bool, error) {
		devices, err := Devices(pods)
		for _, name := range devices {
			_ = run(ctx, "ip", "link", "delete", name) // the kernel may have removed it
		}
		return len(devices) == 0, err
	})
	return errors.Join(err, removeTables(ctx))
}

// removeTables removes the rules of kube-proxy and of CutAddress.
func removeTables(ctx context.Context) error {
	if _, err := exec.LookPath("nft"); err != nil {
		return nil //nolint:nilerr // without the program there are none
	}
	return errors.Join(removeTable(ctx, "ip", "kube-proxy"), removeTable(ctx, "ip6", "kube-proxy"), MendAddresses(ctx))
}

func removeTable(ctx context.Context, family, name string) error {
	if err := run(ctx, "nft", "list", "table", family, name); err != nil {
		return nil //nolint:nilerr // there is none
	}
	return run(ctx, "nft", "delete", "table", family, name)
}

// cutTable is the nftables table with the rules of CutAddress.
const cutTable = "detent-chaos"

// CutAddress drops every packet from and to an address, until MendAddresses. Its rules apply before kube-proxy's rules
// translate an address, and again after them.
func CutAddress(ctx context.Context, address string) error {
	if net.ParseIP(address) == nil {
		return fmt.Errorf("cutting address %q off: it is none", address)
	}
	errs := []error{run(ctx, "nft", "add", "table", "ip", cutTable)}
	for _, hook := range []string{"prerouting", "forward", "output"} {
		errs = append(errs, run(ctx, "nft", "add", "chain", "ip", cutTable, hook, "{ type filter hook "+hook+" priority -300 ; }"))
		for _, side := range []string{"saddr", "daddr"} {
			errs = append(errs, run(ctx, "nft", "add", "rule", "ip", cutTable, hook, "ip", side, address, "drop"))
		}
	}
	return errors.Join(errs...)
}

// MendAddresses reverts every CutAddress.
func MendAddresses(ctx context.Context) error { return removeTable(ctx, "ip", cutTable) }
