package kafka

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// dynamic are the configurations that every supported release changes in running brokers, for one broker or for all of them. Kafka's
// documentation lists their update mode as cluster-wide. A process in both roles takes those that controllers read in both.
var dynamic = []string{
	"background.threads",
	"compression.gzip.level", "compression.lz4.level", "compression.type", "compression.zstd.level",
	"log.cleaner.backoff.ms", "log.cleaner.dedupe.buffer.size", "log.cleaner.delete.retention.ms", "log.cleaner.io.buffer.load.factor",
	"log.cleaner.io.buffer.size", "log.cleaner.io.max.bytes.per.second", "log.cleaner.max.compaction.lag.ms",
	"log.cleaner.min.cleanable.ratio", "log.cleaner.min.compaction.lag.ms", "log.cleaner.threads", "log.cleanup.policy",
	"log.flush.interval.messages", "log.index.interval.bytes", "log.index.size.max.bytes",
	"log.message.timestamp.after.max.ms", "log.message.timestamp.before.max.ms", "log.message.timestamp.type", "log.preallocate",
	"log.retention.bytes", "log.retention.ms", "log.roll.jitter.ms", "log.roll.ms", "log.segment.bytes", "log.segment.delete.delay.ms",
	"max.connection.creation.rate", "max.connections", "max.connections.per.ip",
	"message.max.bytes", "num.io.threads", "num.network.threads", "num.recovery.threads.per.data.dir", "num.replica.fetchers", "producer.id.expiration.ms",
	"transaction.partition.verification.enable",
}

// generated are the configurations of which Kafka itself writes a value of all brokers, from the file of the controller or its default,
// when the level of eligible.leader.replicas.version becomes 1. From then on it refuses to delete it, and no file changes what applies.
var generated = []string{ConfigMinISR}

// Generated reports whether Kafka may have written a value of all brokers itself, which stays for ever.
func Generated(name string) bool { return slices.Contains(generated, name) }

// altered are the configurations of which dynamic values are read and altered.
func altered() []string { return slices.Concat(dynamic, generated) }

// pools are the sizes of thread pools. Kafka changes one at most to the double or the half of its size.
var pools = []string{
	"background.threads", "log.cleaner.threads", "num.io.threads", "num.network.threads", "num.recovery.threads.per.data.dir", "num.replica.fetchers",
}

// Pooled reports whether the configuration is the size of a thread pool, which is changed in steps: see Step.
func Pooled(name string) bool { return slices.Contains(pools, name) }

// Step returns the value nearest to the last one that Kafka takes while it uses the first one. It is not the last one only for the size
// of a thread pool. What is no size is returned as it is: Kafka says what is wrong with it.
func Step(name, from, to string) string {
	if !Pooled(name) {
		return to
	}
	have, err := strconv.ParseInt(strings.TrimSpace(from), 10, 32)
	want, wrong := strconv.ParseInt(strings.TrimSpace(to), 10, 32)
	if err != nil || wrong != nil || have < 1 || want < 1 {
		return to
	}
	switch {
	case want > have*2:
		return strconv.FormatInt(have*2, 10)
	case want < have/2:
		return strconv.FormatInt(have/2, 10)
	}
	return to
}

// unit is a configuration that sets the same as a dynamic one in milliseconds, in another unit. It is not dynamic itself.
type unit struct {
	name string
	// millis of one unit.
	millis int64
}

// units are the other units of a dynamic configuration. Kafka uses the first one that is set, after the dynamic one.
var units = map[string][]unit{
	"log.retention.ms":   {{"log.retention.minutes", 60_000}, {"log.retention.hours", 3_600_000}},
	"log.roll.ms":        {{"log.roll.hours", 3_600_000}},
	"log.roll.jitter.ms": {{"log.roll.jitter.hours", 3_600_000}},
}

// OutOfRange returns the names of the properties in another unit than milliseconds whose number Kafka cannot read, sorted: it has 32 bits,
// and a process that is started with a larger one dies. A running broker would take the same time in milliseconds, which have 64.
func OutOfRange(properties map[string]string) []string {
	var out []string
	for _, others := range units {
		for _, u := range others {
			if _, err := u.parse(properties[u.name]); errors.Is(err, strconv.ErrRange) {
				out = append(out, u.name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// parse reads a number of units. Kafka ignores spaces around it.
func (unit) parse(value string) (int64, error) {
	return strconv.ParseInt(strings.TrimSpace(value), 10, 32)
}

// Dynamic reports whether Kafka takes a changed value of the configuration without a restart, by this name or in milliseconds.
func Dynamic(name string) bool {
	if slices.Contains(dynamic, name) {
		return true
	}
	for _, others := range units {
		if slices.ContainsFunc(others, func(u unit) bool { return u.name == name }) {
			return true
		}
	}
	return false
}

// DynamicValues returns the values that properties set, by the names of dynamic and of generated configurations.
func DynamicValues(properties map[string]string) map[string]string {
	values := map[string]string{}
	for _, name := range altered() {
		if value := valueOf(properties, name); value != nil {
			values[name] = *value
		}
	}
	return values
}

// valueOf returns the value of a dynamic configuration, in its unit; nil if it is not set. A value that is no number of 32 bits is
// returned as it is: Kafka says what is wrong with it.
func valueOf(properties map[string]string, name string) *string {
	if value, set := properties[name]; set {
		return &value
	}
	for _, u := range units[name] {
		value, set := properties[u.name]
		if !set {
			continue
		}
		if n, err := u.parse(value); err == nil {
			value = strconv.FormatInt(max(n*u.millis, -1), 10) // a negative retention is unlimited
		}
		return &value
	}
	return nil
}

// Setting is the value of a dynamic configuration on one broker, by where it comes from. The first one that is not nil applies.
type Setting struct {
	// Broker is the dynamic value of this broker alone.
	Broker *string `json:"broker,omitempty"`
	// Cluster is the dynamic value of all brokers.
	Cluster *string `json:"cluster,omitempty"`
	// Static is the value of the file with which the process was started.
	Static *string `json:"static,omitempty"`
	// Default is the default of the release.
	Default *string `json:"default,omitempty"`
}

// Settings are the dynamic and generated configurations of one broker by name, and ConfigCordonedLogDirs while it is cordoned. One that its release does
// not know is absent.
type Settings map[string]Setting

// Clone returns a copy. The values are never modified.
func (s Settings) Clone() Settings { return maps.Clone(s) }

// ConfigSource is where a value of a configuration comes from.
type ConfigSource uint8

// Sources of values.
const (
	SourceBroker ConfigSource = iota
	SourceCluster
	SourceStatic
	SourceDefault
	sources
)

// ConfigValues are the values of configurations by source and name.
type ConfigValues [sources]map[string]string

// Set sets a value.
func (v *ConfigValues) Set(source ConfigSource, name, value string) {
	if v[source] == nil {
		v[source] = map[string]string{}
	}
	v[source][name] = value
}

// DescribedNames lists the configurations whose values SettingsOf needs.
func DescribedNames() []string {
	names := altered()
	for _, name := range dynamic {
		for _, u := range units[name] {
			names = append(names, u.name)
		}
	}
	return names
}

// SettingNames lists what is asked of a broker about its settings: DescribedNames, and whether it is cordoned.
func SettingNames() []string { return append(DescribedNames(), ConfigCordonedLogDirs) }

// SettingsOf returns the settings for values that a broker reports. known reports whether its release knows a configuration. The cordon
// of the broker is one of them only while it is set.
func SettingsOf(values *ConfigValues, known func(name string) bool) Settings {
	settings := Settings{}
	for _, name := range altered() {
		if !known(name) {
			continue
		}
		setting := Setting{Static: valueOf(values[SourceStatic], name), Default: valueOf(values[SourceDefault], name)}
		if value, set := values[SourceBroker][name]; set {
			setting.Broker = &value
		}
		if value, set := values[SourceCluster][name]; set {
			setting.Cluster = &value
		}
		settings[name] = setting
	}
	if dirs := values[SourceBroker][ConfigCordonedLogDirs]; dirs != "" {
		settings[ConfigCordonedLogDirs] = Setting{Broker: &dirs}
	}
	return settings
}

// Alteration changes dynamic values of one broker, or of all brokers.
type Alteration struct {
	// Broker whose own values change; nil for the values of all brokers.
	Broker *int32            `json:"broker,omitempty"`
	Set    map[string]string `json:"set,omitempty"`
	// Delete are names whose dynamic value is deleted. One that has none is no error.
	Delete []string `json:"delete,omitempty"`
}
