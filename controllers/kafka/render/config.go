package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// snapshotInterval is the default interval between a node's snapshots of the metadata log, in milliseconds. It is far below
// Kafka's default of one hour, because a downgrade after a level was lowered waits for a snapshot.
const snapshotInterval = "600000"

// config is the part of the configuration that all nodes share.
type config struct {
	// user are the user's properties that are neither reserved nor secret.
	user map[string]string
	// listeners that are served to clients.
	listeners []kafkav1beta2.Listener
	voters    string
	// interval between two snapshots, in milliseconds.
	interval string
}

func newConfig(in *Input) config {
	c := config{user: UserProperties(in), interval: snapshotInterval}
	if interval, set := c.user[kafkaclient.ConfigSnapshotInterval]; set {
		c.interval = interval
	}
	for _, l := range in.Spec.Kafka.Listeners {
		if Served(&l) {
			c.listeners = append(c.listeners, l)
		}
	}
	slices.SortFunc(c.listeners, func(a, b kafkav1beta2.Listener) int { return int(a.Port) - int(b.Port) })
	var voters []string
	for i := range in.Nodes {
		if n := &in.Nodes[i]; n.Controller {
			voters = append(voters, fmt.Sprintf("%d@%s.%s.%s.svc:%d", n.ID, n.Pod, HeadlessName(in.Name), in.Namespace, PortControl))
		}
	}
	c.voters = strings.Join(voters, ",")
	return c
}

// UserProperties returns the user's properties that are neither reserved nor secret.
func UserProperties(in *Input) map[string]string {
	user := map[string]string{}
	properties, _ := in.Spec.Kafka.Properties() // ConfigProblem describes unreadable values
	for name, value := range properties {
		if !Reserved(name) && !Secret(name, value) {
			user[name] = value
		}
	}
	return user
}

// Dynamic reports whether Kafka takes a change of the property without a restart.
func Dynamic(name, value string) bool { return kafkaclient.Dynamic(name) && !Reference(value) }

// Reference reports whether the value refers to another one, such as ${env:NAME}. A process that starts resolves it: Kafka would report
// the result, which nothing can be compared with.
func Reference(value string) bool { return strings.Contains(value, "${") }

// Served reports whether clients can connect to the listener: an internal one without TLS.
func Served(l *kafkav1beta2.Listener) bool {
	return l.Type == kafkav1beta2.ListenerInternal && !l.TLS
}

// PortName returns the name of the listener's port in pods and Services.
func PortName(l *kafkav1beta2.Listener) string { return "tcp-" + l.Name }

// listenerName returns Kafka's name of a user's listener.
func listenerName(l *kafkav1beta2.Listener) string {
	return strings.ToUpper(l.Name) + "-" + strconv.Itoa(int(l.Port))
}

// properties returns the properties of one node.
func (c *Cluster) properties(n *Node, pool *kafkav1beta2.KafkaNodePoolSpec) map[string]string {
	p := make(map[string]string, len(c.config.user)+16)
	maps.Copy(p, c.config.user)
	var roles, listeners, advertised []string
	security := []string{listenerControl + ":PLAINTEXT", listenerReplication + ":PLAINTEXT"}
	add := func(name string, port int32, advertise bool) {
		listeners = append(listeners, fmt.Sprintf("%s://0.0.0.0:%d", name, port))
		if advertise {
			advertised = append(advertised, fmt.Sprintf("%s://%s:%d", name, c.host(n.Pod), port))
		}
	}
	if n.Controller {
		roles = append(roles, "controller")
		add(listenerControl, PortControl, false)
	}
	if n.Broker {
		roles = append(roles, "broker")
		add(listenerReplication, PortReplication, true)
		for i := range c.config.listeners {
			name := listenerName(&c.config.listeners[i])
			security = append(security, name+":PLAINTEXT")
			add(name, c.config.listeners[i].Port, true)
		}
		p["advertised.listeners"] = strings.Join(advertised, ",")
		p["inter.broker.listener.name"] = listenerReplication
	}
	p["node.id"] = strconv.Itoa(int(n.ID))
	p["process.roles"] = strings.Join(roles, ",")
	p["listeners"] = strings.Join(listeners, ",")
	p["listener.security.protocol.map"] = strings.Join(security, ",")
	p["controller.listener.names"] = listenerControl
	p["controller.quorum.voters"] = c.config.voters
	p[kafkaclient.ConfigSnapshotInterval] = c.config.interval
	volumes := volumesOf(n, &pool.Storage)
	dirs := make([]string, len(volumes))
	for i, v := range volumes {
		dirs[i] = v.logDir
		if v.metadata {
			p["metadata.log.dir"] = v.logDir
		}
	}
	p["log.dirs"] = strings.Join(dirs, ",")
	return p
}

// hashedProperties returns the part of a node's properties whose change needs a restart of its process: those that its roles read and
// Kafka does not take while it runs.
func hashedProperties(n *Node, properties map[string]string) string {
	read := maps.Clone(properties)
	maps.DeleteFunc(read, func(name, value string) bool {
		if n.Broker {
			return Dynamic(name, value)
		}
		return listed(ofBrokers, name)
	})
	return WriteProperties(read)
}

// Files are the files of a node's configuration. Each has a key in the node's ConfigMap that contains a hash of the content: a pod
// mounts exactly the content for which it was created, and old and new content exist side by side. The hash of a controller's
// server.properties omits what only brokers read, and that of a broker what Kafka takes while it runs: such a change reaches the file
// with the next restart and causes none.
type Files struct {
	// Keys of the ConfigMap by the name of the file.
	Keys map[string]string
	// Data of the ConfigMap by key.
	Data map[string]string
}

const (
	fileServer   = "server.properties"
	fileLog4j2   = "log4j2.properties"
	fileLog4j    = "log4j.properties"
	fileSecurity = "java.security"
)

// Config renders the configuration of a node.
func (c *Cluster) Config(id int32) (Files, error) {
	n, pool, err := c.node(id)
	if err != nil {
		return Files{}, err
	}
	return once(c, part{"files", n.Pod}, func() (Files, error) {
		f := Files{Keys: map[string]string{}, Data: map[string]string{}}
		add := func(name, content, hashed string) {
			stem, ending, _ := strings.Cut(name, ".")
			key := fmt.Sprintf("%s-%s.%s", stem, short([]byte(hashed)), ending)
			f.Keys[name], f.Data[key] = key, content
		}
		properties := c.properties(n, pool)
		add(fileServer, WriteProperties(properties), hashedProperties(n, properties))
		add(fileLog4j2, logging2, logging2)
		add(fileLog4j, logging1, logging1)
		add(fileSecurity, addressCache, addressCache)
		return f, nil
	})
}
