package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	kafkarender "github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// Connector is a declared connector as Connect is to have it.
type Connector struct {
	Config map[string]string
	// Digest of the configuration.
	Digest string
	Spec   kafkav1beta2.NamedConnector
}

// Connectors returns the declared connectors by name.
func (c *Cluster) Connectors() map[string]Connector {
	out := map[string]Connector{}
	for i := range c.Spec.Mirrors {
		m := &c.Spec.Mirrors[i]
		source, target := c.Spec.Aliases(m)
		for class, spec := range map[string]*kafkav1beta2.MirrorMaker2Connector{
			"MirrorSourceConnector": m.SourceConnector, "MirrorCheckpointConnector": m.CheckpointConnector, "MirrorHeartbeatConnector": m.HeartbeatConnector,
		} {
			if spec == nil {
				continue
			}
			name := source + "->" + target + "." + class
			config := c.connector(m, spec, source, target, class)
			config["name"] = name
			out[name] = Connector{Config: config, Digest: Digest(config), Spec: kafkav1beta2.NamedConnector{Name: name, MirrorMaker2Connector: spec}}
		}
	}
	return out
}

// connector returns the configuration of a connector.
func (c *Cluster) connector(m *kafkav1beta2.MirrorMaker2Mirror, spec *kafkav1beta2.MirrorMaker2Connector, source, target, class string) map[string]string {
	p := map[string]string{}
	for prefix, alias := range map[string]string{"source.cluster.": source, "target.cluster.": target} {
		cluster := c.Spec.Cluster(alias)
		if cluster == nil {
			continue
		}
		own, _ := kafkav1beta2.TextProperties(cluster.Config) // as in properties
		for name, value := range own {
			if !isReserved(name) && !kafkarender.Secret(name, value) {
				p[prefix+name] = value
			}
		}
		for name, value := range c.logins[alias].properties(alias) {
			p[prefix+name] = value
		}
		p[prefix+"alias"], p[prefix+"bootstrap.servers"] = alias, cluster.BootstrapServers
	}
	users, _ := kafkav1beta2.TextProperties(spec.Config) // as in properties
	maps.Copy(p, users)
	delete(p, pluginVersion)
	if spec.Version != "" {
		p[pluginVersion] = spec.Version
	}
	for name, value := range map[string]string{
		"topics": m.TopicsPattern, "topics.exclude": m.TopicsExcludePattern, "groups": m.GroupsPattern, "groups.exclude": m.GroupsExcludePattern,
	} {
		if value != "" {
			p[name] = value
		}
	}
	p["connector.class"] = "org.apache.kafka.connect.mirror." + class
	p["tasks.max"] = "1"
	if spec.TasksMax != nil {
		p["tasks.max"] = number(int64(*spec.TasksMax))
	}
	return p
}

// overwriting are the properties of a connector that the spec has fields for, or that follow from its place in the spec.
var overwriting = map[string]string{
	"name": "", "connector.class": "", "tasks.max": "tasksMax of the connector", pluginVersion: "version of the connector",
	"topics": "topicsPattern of the mirror", "topics.exclude": "topicsExcludePattern of the mirror", "groups": "groupsPattern of the mirror", "groups.exclude": "groupsExcludePattern of the mirror",
}

// overwritten returns what has no effect in the configs of the connectors, because a field of the spec or its default has another value.
func (c *Cluster) overwritten() []string {
	var out []string
	for connector, k := range c.Connectors() {
		values, _ := kafkav1beta2.TextProperties(k.Spec.Config) // one that cannot be read has no effect either
		for name, field := range overwriting {
			if _, set := k.Spec.Config[name]; !set || values[name] == k.Config[name] {
				continue
			}
			text := name + " of connector " + connector
			if field != "" {
				text += " (use " + field + ")"
			}
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

// Digest is a digest of a configuration.
func Digest(config map[string]string) string {
	text, err := json.Marshal(config) // sorts the keys
	if err != nil {
		panic(err) // texts always encode
	}
	return short(text)
}

func short(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:4])
}
