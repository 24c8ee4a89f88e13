package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/detent-dev/detent/clients/ceph"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// rgw sets the command and the probes of a gateway, which ends by itself after five minutes without a cluster that serves.
func (d *daemon) rgw() {
	d.main.Command = []string{"radosgw", "--foreground", "--name=client.rgw." + d.Name.ID, fmt.Sprintf("--rgw-frontends=beast port=%d", d.Port)}
	d.main.Ports = []corev1.ContainerPort{{Name: portHTTP, ContainerPort: d.Port, Protocol: corev1.ProtocolTCP}}
	// The Service forgets the pod before the process ends: new requests would otherwise be refused while other gateways serve.
	d.main.Lifecycle = stopsAfter(3)
	at := healthPath(d.Cluster, d.Name)
	d.main.StartupProbe, d.main.ReadinessProbe = answers(d.Port, at, 1, 600), answers(d.Port, at, 5, 3)
}

// answers returns a probe that asks a gateway over HTTP, or without a path whether it listens, as it does once it has opened its storage.
func answers(port int32, at string, period, failures int32) *corev1.Probe {
	handler := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}}
	if at != "" {
		handler = corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: at, Port: intstr.FromInt32(port)}}
	}
	return &corev1.Probe{ProbeHandler: handler, PeriodSeconds: period, TimeoutSeconds: 5, FailureThreshold: failures}
}

// word is a part of a path that needs no escape.
var word = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// healthPath is the path of the health check of the Swift API; empty if the gateway does not serve that API, or not surely on a path. No other
// API has one that answers whatever else is configured.
func healthPath(c *cephv1.Cluster, gateway ceph.Daemon) string {
	if apis, set := option(c, gateway, "rgw enable apis"); set && !slices.Contains(strings.FieldsFunc(apis, separates), "swift") {
		return ""
	}
	switch prefix, set := option(c, gateway, "rgw swift url prefix"); {
	case !set:
		return "/swift/healthcheck"
	case prefix == "/": // the root
		return "/healthcheck"
	case word.MatchString(prefix):
		return "/" + prefix + "/healthcheck"
	}
	return ""
}

// separates reports whether Ceph ends an entry of a list at a character.
func separates(r rune) bool { return strings.ContainsRune(";,= \t", r) }

// option is the value of an option that the spec sets for a gateway, and false if it sets none. Ceph takes it from the section of the daemon, of
// its type, or from global, in this order.
func option(c *cephv1.Cluster, gateway ceph.Daemon, name string) (text string, set bool) {
	for _, section := range []string{"client.rgw." + gateway.ID, "client", "global"} {
		for key, value := range c.Spec.CephConfig[section] {
			if optionName(key) == name {
				return strings.Trim(strings.TrimSpace(string(value)), `"'`), true
			}
		}
	}
	return "", false
}
