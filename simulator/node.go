package simulator

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator/kubelet"
)

// configFile is the file that Kafka reads. It may be in any volume of the pod.
const configFile = "server.properties"

// node is the configuration of a Kafka process.
type node struct {
	id                 int32
	version            string
	broker, controller bool
	voters             []int32
	host               string
	port               int32
	// logDirs are the log directories, including metadataDir.
	logDirs     []string
	metadataDir string
	properties  properties
}

// nodeOf reads the configuration of the pod's process, as Kafka does at its start. The error is what Kafka prints.
func nodeOf(pod *corev1.Pod, mounts kubelet.Mounts) (*node, error) {
	text, found := "", false
	for _, files := range mounts.Files {
		if content, ok := files[configFile]; ok {
			text, found = content, true
		}
	}
	if !found {
		return nil, fmt.Errorf("java.nio.file.NoSuchFileException: %s", configFile)
	}
	p := parseProperties(text)
	roles := p.list("process.roles")
	n := &node{
		id: p.id("node.id"), version: pod.Annotations[versionAnnotation], properties: p,
		broker: slices.Contains(roles, "broker"), controller: slices.Contains(roles, "controller"),
		logDirs: p.list("log.dirs"), metadataDir: p["metadata.log.dir"],
	}
	if n.id < 0 || !n.broker && !n.controller {
		return nil, fmt.Errorf("org.apache.kafka.common.config.ConfigException: node.id %q and process.roles %q make no node", p["node.id"], p["process.roles"])
	}
	if n.metadataDir == "" && len(n.logDirs) > 0 {
		n.metadataDir = n.logDirs[0]
	}
	for _, voter := range p.list("controller.quorum.voters") {
		text, _, _ := strings.Cut(voter, "@")
		if id, err := strconv.ParseInt(text, 10, 32); err == nil {
			n.voters = append(n.voters, int32(id))
		}
	}
	n.host, n.port = advertised(p)
	return n, nil
}

// advertised returns the advertised address of the inter-broker listener, otherwise of the first listener.
func advertised(p properties) (host string, port int32) {
	for _, listener := range p.list("advertised.listeners") {
		name, address, _ := strings.Cut(listener, "://")
		if host != "" && name != p["inter.broker.listener.name"] {
			continue
		}
		if h, text, err := net.SplitHostPort(address); err == nil {
			n, _ := strconv.ParseUint(text, 10, 16) // an invalid port is 0
			host, port = h, int32(n)
		}
	}
	return host, port
}

// snapshotInterval converts the interval for the model: 0 is not set, negative is never.
func (n *node) snapshotInterval() int64 {
	interval := n.properties.number(client.ConfigSnapshotInterval, -1)
	switch {
	case interval < 0:
		return 0
	case interval == 0:
		return -1
	default:
		return interval
	}
}
