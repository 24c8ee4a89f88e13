package kafka

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/clients/kafka/versions"
)

// ConfigValue is the value of one configuration.
type ConfigValue struct{ Name, Value string }

// DynamicValue is a dynamic value of a broker, or of all brokers if Broker is None.
type DynamicValue struct {
	Broker int32
	ConfigValue
}

// defaults are the defaults of the dynamic configurations and of their other units. Source: the documentation of Kafka 4.3.
var defaults = []ConfigValue{
	{"background.threads", "10"},
	{"compression.gzip.level", "-1"}, {"compression.lz4.level", "9"}, {"compression.type", "producer"}, {"compression.zstd.level", "3"},
	{"log.cleaner.backoff.ms", "15000"}, {"log.cleaner.dedupe.buffer.size", "134217728"}, {"log.cleaner.delete.retention.ms", "86400000"},
	{"log.cleaner.io.buffer.load.factor", "0.9"}, {"log.cleaner.io.buffer.size", "524288"},
	{"log.cleaner.io.max.bytes.per.second", "1.7976931348623157E308"}, {"log.cleaner.max.compaction.lag.ms", "9223372036854775807"},
	{"log.cleaner.min.cleanable.ratio", "0.5"}, {"log.cleaner.min.compaction.lag.ms", "0"}, {"log.cleaner.threads", "1"},
	{"log.cleanup.policy", "delete"}, {"log.flush.interval.messages", "9223372036854775807"}, {"log.index.interval.bytes", "4096"},
	{"log.index.size.max.bytes", "10485760"}, {"log.message.timestamp.after.max.ms", "3600000"},
	{"log.message.timestamp.before.max.ms", "9223372036854775807"}, {"log.message.timestamp.type", "CreateTime"}, {"log.preallocate", "false"},
	{"log.retention.bytes", "-1"}, {"log.retention.hours", "168"}, {"log.roll.hours", "168"}, {"log.roll.jitter.hours", "0"},
	{"log.segment.bytes", "1073741824"}, {"log.segment.delete.delay.ms", "60000"}, {"max.connection.creation.rate", "2147483647"},
	{"max.connections", "2147483647"}, {"max.connections.per.ip", "2147483647"}, {"message.max.bytes", "1048588"}, {client.ConfigMinISR, "1"},
	{"num.io.threads", "8"}, {"num.network.threads", "3"},
	{"num.recovery.threads.per.data.dir", "2"}, {"num.replica.fetchers", "1"}, {"producer.id.expiration.ms", "86400000"},
	{"transaction.partition.verification.enable", "true"},
}

// StaticValues returns the values in a file of properties that the model knows, for Start.
func StaticValues(properties map[string]string) []ConfigValue {
	var values []ConfigValue
	for _, name := range client.DescribedNames() {
		if value, set := properties[name]; set {
			values = append(values, ConfigValue{name, value})
		}
	}
	return values
}

// DescribeSettings answers DescribeConfigs of the broker that is asked, with the values of the configurations in
// client.SettingNames by source.
func (c *Cluster) DescribeSettings(via int32) (client.ConfigValues, error) {
	n, err := c.answering(via)
	if err != nil {
		return client.ConfigValues{}, err
	}
	var answer client.ConfigValues
	err = c.guarded(RequestDescribeConfigs, via, func() error {
		for _, v := range c.Dynamic {
			switch v.Broker {
			case None:
				answer.Set(client.SourceCluster, v.Name, v.Value)
			case via:
				answer.Set(client.SourceBroker, v.Name, v.Value)
			}
		}
		if slices.Contains(c.Cordoned, via) {
			answer.Set(client.SourceBroker, client.ConfigCordonedLogDirs, client.CordonedAll)
		}
		for _, v := range n.Static {
			answer.Set(client.SourceStatic, v.Name, v.Value)
		}
		for _, v := range defaults {
			answer.Set(client.SourceDefault, v.Name, v.Value)
		}
		return nil
	})
	return answer, err
}

// Alter answers IncrementalAlterConfigs of a broker for dynamic values. Values of one broker are accepted only by that broker.
func (c *Cluster) Alter(via int32, a client.Alteration) error {
	n, err := c.answering(via)
	if err != nil {
		return err
	}
	return c.guarded(RequestAlterConfigs, via, func() error {
		of := None
		if a.Broker != nil {
			if of = *a.Broker; of != via {
				return UnexpectedBroker(via, strconv.Itoa(int(of)))
			}
		}
		if c.Leader == None || c.isolated(n) {
			return ErrNoAnswer
		}
		for name, value := range a.Set {
			if why := invalid(name, value); why != "" {
				return refused(client.CodeInvalidRequest, why)
			}
		}
		if why := c.protects(of, a); why != "" {
			return refused(client.CodeInvalidConfig, why)
		}
		next := c.altered(of, a)
		for _, name := range slices.Concat(slices.Sorted(maps.Keys(a.Set)), a.Delete) {
			if why := tooFar(name, inUse(n, c.Dynamic, name), inUse(n, next, name)); why != "" {
				return refused(client.CodeInvalidRequest, why)
			}
		}
		c.Dynamic = next
		return nil
	})
}

// generate writes the values that an active controller adds to the metadata log itself, from its own file.
func (c *Cluster) generate() {
	i := c.nodeIndex(c.Leader)
	if i < 0 || c.Level(versions.FeatureEligibleLeaderReplicas) == 0 {
		return
	}
	for _, v := range c.Dynamic {
		if v.Name == client.ConfigMinISR && v.Broker == None {
			return
		}
	}
	value := inUse(&c.Nodes[i], nil, client.ConfigMinISR)
	c.Dynamic = slices.DeleteFunc(slices.Clone(c.Dynamic), func(v DynamicValue) bool { return v.Name == client.ConfigMinISR })
	c.Dynamic = c.altered(None, client.Alteration{Set: map[string]string{client.ConfigMinISR: value}})
}

// protects says why Kafka refuses an alteration of a value that it has written itself; empty if it does not.
func (c *Cluster) protects(of int32, a client.Alteration) string {
	_, set := a.Set[client.ConfigMinISR]
	taken := slices.Contains(a.Delete, client.ConfigMinISR)
	switch {
	case c.Level(versions.FeatureEligibleLeaderReplicas) == 0:
	case of == None && taken:
		return "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
	case of != None && (set || taken):
		return "Broker-level min.insync.replicas cannot be altered while ELR is enabled."
	}
	return ""
}

// altered returns the dynamic values after an alteration.
func (c *Cluster) altered(of int32, a client.Alteration) []DynamicValue {
	next := slices.DeleteFunc(slices.Clone(c.Dynamic), func(v DynamicValue) bool {
		_, set := a.Set[v.Name]
		return v.Broker == of && (set || slices.Contains(a.Delete, v.Name))
	})
	for name, value := range a.Set {
		next = append(next, DynamicValue{of, ConfigValue{name, value}})
	}
	slices.SortFunc(next, func(a, b DynamicValue) int {
		return cmp.Or(cmp.Compare(a.Broker, b.Broker), strings.Compare(a.Name, b.Name))
	})
	return next
}

// invalid says why Kafka refuses a value; empty if it accepts it. The model checks types by the default of the configuration.
func invalid(name, value string) string {
	standard := "0" // of those in milliseconds, which have no default
	for _, d := range defaults {
		if d.Name == name {
			standard = d.Value
		}
	}
	if _, err := strconv.ParseInt(standard, 10, 64); err != nil {
		return ""
	}
	if _, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil {
		return fmt.Sprintf("Invalid value %s for configuration %s: Not a number of type INT", value, name)
	}
	return ""
}

// inUse returns the value of a configuration that the broker uses with these dynamic values.
func inUse(n *Node, dynamic []DynamicValue, name string) string {
	current := ""
	for _, values := range [][]ConfigValue{defaults, n.Static} {
		for _, v := range values {
			if v.Name == name {
				current = v.Value
			}
		}
	}
	for _, v := range dynamic { // those of all brokers come first
		if v.Name == name && (v.Broker == None || v.Broker == n.ID) {
			current = v.Value
		}
	}
	return current
}

// tooFar says why a broker refuses to change the size of a thread pool, also by the deletion of a value; empty if it accepts it.
func tooFar(name, current, value string) string {
	step := client.Step(name, current, value)
	if step == value {
		return ""
	}
	taken, _ := strconv.Atoi(step) // a step is a number
	wanted, _ := strconv.Atoi(value)
	limit := "should be at least half"
	if wanted > taken {
		limit = "should not be greater than double"
	}
	return fmt.Sprintf("Dynamic thread count update validation failed for %s=%s, value %s the current value %s", name, value, limit, current)
}

// UnexpectedBroker is the refusal of a request about the configuration of another broker than the one that is asked.
func UnexpectedBroker(via int32, named string) error {
	if named == strconv.Itoa(int(via)) {
		return nil
	}
	return refused(client.CodeInvalidRequest, "Unexpected broker id, expected "+strconv.Itoa(int(via))+", but received "+named)
}
