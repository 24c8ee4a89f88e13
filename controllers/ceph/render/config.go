package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/record"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

const (
	portV2 = 3300
	portV1 = 6789
)

// defaults are the options that the operator sets; spec.cephConfig has precedence over them. The two timeouts shorten the time until a
// monitor that was replaced behind its Service is in quorum again.
func defaults() map[string]map[string]string {
	return map[string]map[string]string{
		"global": {
			"keyring": keyringDir + "/keyring", "ms max backoff": "1", "ms connection ready timeout": "2",
			"auth allow insecure global id reclaim": "false",
			"log to file":                           "false", "log to stderr": "true", "err to stderr": "true", "mon cluster log to file": "false", "mon cluster log to stderr": "true",
		},
	}
}

// ConfigName is the name of the ConfigMap with the configuration of a cluster.
func ConfigName(cluster string) string { return cluster + "-config" }

// Config returns the ConfigMap with ceph.conf, which contains the monitors that were launched, and with what the scripts that make data read.
func Config(c *cephv1.Cluster, r *record.Record) *corev1.ConfigMap {
	data := sizes(c)
	data["ceph.conf"], data[monmapKey] = ConfigText(c, r), monmap(r)
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: ConfigName(c.Name), Namespace: c.Namespace, Labels: Labels(c.Name)}, Data: data}
}

// monmapKey is the key of the arguments for monmaptool. They are no part of a pod, so that another monitor restarts none.
const monmapKey = "monmap"

func monmap(r *record.Record) string {
	var args []string
	for _, m := range launched(r) {
		args = append(args, "--addv", m.ID, address(r.Daemons[m.String()].Address))
	}
	return strings.Join(args, " ")
}

// launched returns the monitors that were launched. One that was not is no part of the cluster: a monitor that is added would count it
// towards a majority.
func launched(r *record.Record) []ceph.Daemon {
	return slices.DeleteFunc(r.Of(ceph.TypeMon), func(m ceph.Daemon) bool {
		one := r.Daemons[m.String()]
		return one.Address == "" || one.Reference == ""
	})
}

// reserved are the options that identify the cluster and its monitors. They are the operator's alone: in any section, a daemon would take them
// for its own cluster.
func reserved() []string {
	return []string{"fsid", "mon host", "mon host override", "mon initial members", "monmap"}
}

// optionName is the name of an option in words. Ceph drops spaces around a name, and reads those in it as one underscore.
func optionName(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "_", " ")), " ")
}

// onCommandLines are the options that the command lines of daemons set, with the types of these daemons. They have precedence over any file.
func onCommandLines() map[string][]ceph.Type {
	return map[string][]ceph.Type{
		"public addr": {ceph.TypeMon, ceph.TypeMgr, ceph.TypeOSD, ceph.TypeMDS}, "public bind addr": {ceph.TypeMon}, "cluster addr": {ceph.TypeOSD},
		"crush location": {ceph.TypeOSD}, "mds join fs": {ceph.TypeMDS}, "rgw frontends": {ceph.TypeRGW},
	}
}

// typeOf is the type of the daemons that read a section; empty for all. Of the clients, these are the gateways.
func typeOf(section string) ceph.Type {
	first, rest, _ := strings.Cut(section, ".")
	switch {
	case section == "global":
		return ""
	case section == "client" || first == "client" && strings.HasPrefix(rest, "rgw."):
		return ceph.TypeRGW
	}
	return ceph.Type(first)
}

// Ignored returns the options of the spec that are left out, each with its section.
func Ignored(c *cephv1.Cluster) (options []string) {
	return optionsThat(c, func(_ ceph.Type, option string) bool { return slices.Contains(reserved(), option) })
}

// Overridden returns the options of the spec that have no effect since the command line of each daemon that uses them sets them, each with its
// section.
func Overridden(c *cephv1.Cluster) (options []string) {
	return optionsThat(c, func(of ceph.Type, option string) bool {
		set, onCommandLine := onCommandLines()[option]
		return onCommandLine && (of == "" || slices.Contains(set, of))
	})
}

// optionsThat returns the options of the spec for which a condition holds, each with its section.
func optionsThat(c *cephv1.Cluster, holds func(of ceph.Type, option string) bool) (options []string) {
	for _, section := range slices.Sorted(maps.Keys(c.Spec.CephConfig)) {
		for _, option := range slices.Sorted(maps.Keys(c.Spec.CephConfig[section])) {
			if holds(typeOf(section), optionName(option)) {
				options = append(options, fmt.Sprintf("%q in %s", option, section))
			}
		}
	}
	return options
}

// Copies is how many copies a new pool has, each on another host in CRUSH. The monitors make pools, with the value of their section if there is one.
func Copies(c *cephv1.Cluster) int {
	copies := 3 // Ceph's default
	for _, section := range []string{"global", "mon"} {
		for option, value := range c.Spec.CephConfig[section] {
			if n, err := strconv.Atoi(string(value)); err == nil && n > 0 && optionName(option) == "osd pool default size" {
				copies = n
			}
		}
	}
	return copies
}

// ConfigText returns ceph.conf.
func ConfigText(c *cephv1.Cluster, r *record.Record) string {
	sections := defaults()
	for name, options := range c.Spec.CephConfig {
		if sections[name] == nil {
			sections[name] = map[string]string{}
		}
		for _, option := range slices.Sorted(maps.Keys(options)) { // equal for each process, also with two names of one option from an earlier release
			if of := optionName(option); !slices.Contains(reserved(), of) {
				sections[name][of] = value(string(options[option]))
			}
		}
	}
	var names, hosts []string
	for _, m := range launched(r) {
		names, hosts = append(names, m.ID), append(hosts, address(r.Daemons[m.String()].Address))
	}
	sections["global"]["fsid"] = r.FSID
	sections["global"]["mon host"], sections["global"]["mon initial members"] = strings.Join(hosts, ","), strings.Join(names, ",")
	var out strings.Builder
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		fmt.Fprintf(&out, "[%s]\n", section)
		for _, option := range slices.Sorted(maps.Keys(sections[section])) {
			fmt.Fprintf(&out, "%s = %s\n", option, sections[section][option])
		}
	}
	return out.String()
}

// value is the text of a value. A backslash at the end of a line continues it on the next one, which is empty here: a resource may be older
// than the rule that refuses such a value.
func value(text string) string {
	if strings.HasSuffix(text, `\`) {
		return text + "\n"
	}
	return text
}

func address(ip string) string {
	if strings.Contains(ip, ":") {
		ip = "[" + ip + "]"
	}
	return fmt.Sprintf("[v2:%s:%d,v1:%s:%d]", ip, portV2, ip, portV1)
}

// MonService returns the Service of a monitor. Its address identifies the monitor for the whole life of the cluster, so that it has no
// owner. It leads to the pod before that is ready: the monitor then answers or refuses connections itself
// (docs/decisions/0735-a-rejected-connection-keeps-a-monitor-busy.md).
func MonService(c *cephv1.Cluster, d ceph.Daemon) *corev1.Service {
	port := func(name string, number int32) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Port: number, TargetPort: intstr.FromInt32(number), Protocol: corev1.ProtocolTCP}
	}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: daemons.ObjectName(c.Name, d), Namespace: c.Namespace, Labels: daemonLabels(c.Name, d)},
		Spec: corev1.ServiceSpec{
			Selector: selector(c.Name, d), Ports: []corev1.ServicePort{port("tcp-msgr2", portV2), port("tcp-msgr1", portV1)},
			PublishNotReadyAddresses: true,
		},
	}
}

// StoreService returns the Service of an object store. It finds the port of each gateway by its name: after a change of the port, a gateway
// listens on the one from before until it is replaced.
func StoreService(c *cephv1.Cluster, s *cephv1.ObjectStoreSpec) *corev1.Service {
	labels := Labels(c.Name)
	labels[labelStore] = s.Name
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: c.Name + "-rgw-" + s.Name, Namespace: c.Namespace, Labels: labels},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{LabelCluster: c.Name, labelStore: s.Name},
			Ports:    []corev1.ServicePort{{Name: portHTTP, Port: s.Port, TargetPort: intstr.FromString(portHTTP), Protocol: corev1.ProtocolTCP}},
		},
	}
}

// portHTTP is the name of the port of gateways.
const portHTTP = "http"

// labelStore is on the pods of the gateways of an object store, and labelFilesystem on those of the metadata servers of a filesystem.
const (
	labelStore      = "rook_object_store"
	labelFilesystem = "rook_file_system"
)
