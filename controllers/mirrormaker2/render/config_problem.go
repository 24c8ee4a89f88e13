package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	kafkarender "github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
)

// ReasonUnreadable is the reason of a spec with a value that Kafka cannot read.
const ReasonUnreadable transitions.Reason = "UnreadableConfig"

// configProblem describes the values of the configurations that are none of Kafka's; nil if there are none. Such a property is declared, and
// nothing may take it for one that is not: a connector without its topics would mirror all.
func (c *Cluster) configProblem() *transitions.Problem {
	var wrong []string
	add := func(path string, config map[string]apiextensionsv1.JSON, ignored func(name string) bool) {
		unreadable := kafkav1beta2.UnreadableProperties(config)
		for _, name := range slices.Sorted(maps.Keys(unreadable)) {
			if !ignored(name) {
				wrong = append(wrong, fmt.Sprintf("%s[%s] (%v)", path, name, unreadable[name]))
			}
		}
	}
	cluster := func(path string, of *kafkav1beta2.MirrorMaker2Cluster) {
		add(path+".config", of.Config, func(name string) bool { return c.ignores(of.Alias, name, "") })
	}
	if c.Spec.Target != nil {
		cluster("spec.target", &c.Spec.Target.MirrorMaker2Cluster)
	}
	for i := range c.Spec.Clusters {
		cluster("spec.clusters["+c.Spec.Clusters[i].Alias+"]", &c.Spec.Clusters[i])
	}
	for i := range c.Spec.Mirrors {
		m := &c.Spec.Mirrors[i]
		source, _ := c.Spec.Aliases(m)
		at := "spec.mirrors[" + source + "]."
		if m.Source != nil {
			cluster(at+"source", m.Source)
		}
		connectors := []*kafkav1beta2.MirrorMaker2Connector{m.SourceConnector, m.CheckpointConnector, m.HeartbeatConnector}
		for k, field := range []string{"sourceConnector", "checkpointConnector", "heartbeatConnector"} {
			if connectors[k] != nil {
				add(at+field+".config", connectors[k].Config, func(name string) bool { return name == pluginVersion })
			}
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return transitions.Problemf(ReasonUnreadable, "no worker and no configuration of a connector is changed, because Kafka cannot read %s: write a string, a number or a boolean, such as \"orders,bills\" for two values",
		strings.Join(wrong, " and "))
}

// ignores reports whether a property of a cluster's config has no effect.
func (c *Cluster) ignores(alias, name, value string) bool {
	if c.Spec.Target == nil && alias == c.storage.Alias && (name == "group.id" || strings.HasSuffix(name, ".storage.topic")) {
		return false // the shape with clusters has no fields for them
	}
	return isReserved(name) || kafkarender.Secret(name, value)
}

// ignored returns what has no effect in the configs of the clusters with the aliases, of which the first is that of the workers.
func (c *Cluster) ignored(aliases []string) []string {
	var out []string
	for i, alias := range aliases {
		cluster := c.Spec.Cluster(alias)
		if cluster == nil || slices.Index(aliases, alias) < i {
			continue
		}
		values, _ := kafkav1beta2.TextProperties(cluster.Config) // one that cannot be read is ignored due to its name only
		for name := range cluster.Config {
			if !c.ignores(alias, name, values[name]) {
				continue
			}
			if i > 0 {
				name += " of cluster " + alias
			}
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
