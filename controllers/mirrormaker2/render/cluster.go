package render

import (
	"maps"
	"slices"
	"strings"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// Input is everything that the objects depend on.
type Input struct {
	Namespace, Name string
	Spec            *kafkav1beta2.KafkaMirrorMaker2Spec
	// Version of Kafka, and Image with it.
	Version, Image string
}

// Cluster renders the objects of one resource.
type Cluster struct {
	Input
	// Problem is why the spec cannot be applied; nil if it can.
	Problem *transitions.Problem
	// Ignored are the properties of clusters that the user set and that Detent manages, or that would put a secret into a ConfigMap, sorted.
	// Those of another cluster than that of the workers name it, and those of a connector name that and the field to use instead.
	Ignored []string

	storage *kafkav1beta2.MirrorMaker2Target
	logins  map[string]*login
	worker  map[string]string
	entries map[int32]stamped
}

// New returns a Cluster. It keeps the input, which the caller must not modify afterwards.
func New(in Input) *Cluster {
	c := &Cluster{Input: in, storage: in.Spec.ConnectStorage(), logins: map[string]*login{}, entries: map[int32]stamped{}}
	aliases := []string{c.storage.Alias}
	for i := range in.Spec.Mirrors {
		source, _ := in.Spec.Aliases(&in.Spec.Mirrors[i])
		aliases = append(aliases, source)
	}
	for _, alias := range aliases {
		cluster := in.Spec.Cluster(alias)
		if cluster == nil {
			continue // the definition of the kind refuses it
		}
		l, problem := loginOf(cluster)
		if c.Problem == nil {
			c.Problem = problem
		}
		c.logins[alias] = l
	}
	if c.Problem == nil {
		c.Problem = c.configProblem()
	}
	c.Ignored = append(c.ignored(aliases), c.overwritten()...)
	c.worker = c.properties()
	return c
}

// Replicas is the number of workers.
func (c *Cluster) Replicas() int32 {
	const usual = 3
	if c.Spec.Replicas == nil {
		return usual
	}
	return *c.Spec.Replicas
}

// reserved are the properties of workers that Detent manages: exact names, or prefixes if they end in a dot.
var reserved = []string{
	"bootstrap.servers", "group.id", "config.storage.topic", "offset.storage.topic", "status.storage.topic", "listeners", "rest.",
	"admin.listeners", "plugin.path", "plugin.discovery", "config.providers", "config.providers.", "security.", "sasl.", "ssl.",
	"producer.sasl.", "producer.security.", "consumer.sasl.", "consumer.security.", "admin.sasl.", "admin.security.",
}

func isReserved(property string) bool {
	return slices.ContainsFunc(reserved, func(name string) bool {
		return property == name || strings.HasSuffix(name, ".") && strings.HasPrefix(property, name)
	})
}

// Defaults of worker properties that differ from Kafka's. Offsets are committed every ten seconds: a change of offsets waits for commits
// of old ones, and a worker that ends repeats what it had not committed.
var defaults = map[string]string{
	"key.converter": byteArrays, "value.converter": byteArrays, "header.converter": byteArrays,
	propertyFlush: "10000",
}

const (
	byteArrays = "org.apache.kafka.connect.converters.ByteArrayConverter"

	propertyFlush       = "offset.flush.interval.ms"
	propertyFlushLimit  = "offset.flush.timeout.ms"
	propertyGraceful    = "task.shutdown.graceful.timeout.ms"
	propertyExactlyOnce = "exactly.once.source.support"

	// pluginVersion is the property of a connector for its field version. As in Strimzi, its configuration cannot set it.
	pluginVersion = "connector.plugin.version"
)

// properties returns the configuration of the workers.
func (c *Cluster) properties() map[string]string {
	p := maps.Clone(defaults)
	users, _ := kafkav1beta2.TextProperties(c.storage.Config) // with a value that is no text the spec is refused
	for name, value := range users {
		if !c.ignores(c.storage.Alias, name, value) {
			p[name] = value
		}
	}
	managed := map[string]string{
		"bootstrap.servers": c.storage.BootstrapServers,
		"listeners":         "http://0.0.0.0:8083", "rest.advertised.host.name": "${env:ADVERTISED_HOSTNAME}", "rest.advertised.port": "8083",
		"plugin.discovery": "service_load",
		"config.providers": "env", "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
	}
	maps.Copy(p, managed)
	if len(c.secured()) > 0 { // a worker does not start if the path does not exist
		p["config.providers"] = "env,dir"
		p["config.providers.dir.class"] = "org.apache.kafka.common.config.provider.DirectoryConfigProvider"
		p["config.providers.dir.param.allowed.paths"] = credentialsPath
	}
	names := map[string]string{
		"group.id": c.storage.GroupID, "config.storage.topic": c.storage.ConfigStorageTopic,
		"offset.storage.topic": c.storage.OffsetStorageTopic, "status.storage.topic": c.storage.StatusStorageTopic,
	}
	for name, value := range names {
		if _, set := p[name]; !set || c.Spec.Target != nil {
			p[name] = value
		}
	}
	for name, value := range c.logins[c.storage.Alias].properties(c.storage.Alias) {
		p[name] = value
		if name != "security.protocol" || value != "PLAINTEXT" {
			for _, client := range []string{"producer.", "consumer.", "admin."} {
				p[client+name] = value
			}
		}
	}
	return p
}
