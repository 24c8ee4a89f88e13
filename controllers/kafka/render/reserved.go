package render

import (
	"slices"
	"strings"
)

// reserved are the properties that Detent manages: exact names, or prefixes if they end in a dot. A user who set one would change
// what the lifecycles depend on: identity, roles, addresses, storage, and feature levels.
var reserved = []string{
	"node.id", "broker.id", "broker.id.generation.enable", "broker.rack", "process.roles",
	"listeners", "advertised.", "listener.", "inter.broker.listener.name", "control.plane.listener.name", "early.start.listeners",
	"host.name", "port", "security.", "sasl.", "ssl.", "authorizer.", "super.users",
	"controller.listener.names", "controller.quorum.voters", "controller.quorum.bootstrap.servers", "controller.quorum.auto.join.enable",
	"log.dir", "log.dirs", "metadata.log.dir", "cordoned.log.dirs", "unstable.", "zookeeper.",
}

// allowed are safe properties within reserved groups.
var allowed = []string{
	"sasl.server.max.receive.size", "ssl.cipher.suites", "ssl.enabled.protocols", "ssl.protocol", "ssl.secure.random.implementation",
	"security.providers",
}

// Reserved reports whether Detent manages a property, so that the user's value is ignored. Per-listener settings (listener.name.*)
// are all reserved.
func Reserved(property string) bool {
	return !slices.Contains(allowed, property) && listed(reserved, property)
}

// listed reports whether a list contains the property, by its name or by a prefix that ends in a dot.
func listed(list []string, property string) bool {
	return slices.ContainsFunc(list, func(name string) bool {
		return property == name || strings.HasSuffix(name, ".") && strings.HasPrefix(property, name)
	})
}

// ofBrokers are the properties that only the role broker reads: exact names, or prefixes if they end in a dot. A name that is
// missing here costs a restart of the controllers. A name that does not belong here would leave controllers with an old value, so
// that properties are listed only if no controller reads them: not limits and validation of topics and groups, elections, quotas,
// tokens, remote storage and what the network layer of both roles reads.
var ofBrokers = []string{
	"background.threads",
	"compression.type", "compression.gzip.level", "compression.lz4.level", "compression.zstd.level",
	"delete.records.purgatory.purge.interval.requests", "fetch.max.bytes", "fetch.purgatory.purge.interval.requests",
	"group.coordinator.", "group.initial.rebalance.delay.ms", "group.max.session.timeout.ms", "group.max.size", "group.min.session.timeout.ms",
	"log.cleaner.", "log.cleanup.policy", "log.dir.failure.timeout.ms", "log.flush.", "log.index.", "log.initial.task.delay.ms",
	"log.message.timestamp.", "log.preallocate", "log.retention.", "log.roll.", "log.segment.",
	"max.incremental.fetch.session.cache.slots", "message.max.bytes",
	"num.recovery.threads.per.data.dir", "num.replica.alter.log.dirs.threads", "num.replica.fetchers",
	"offset.metadata.max.bytes", "offsets.", "producer.id.", "producer.purgatory.purge.interval.requests",
	"replica.", "share.coordinator.", "transaction.", "transactional.id.",
}

// secret are the suffixes of names of properties that are secrets for Kafka or its plugins: those of Kafka's type password, and
// names that plugins use.
var secret = []string{
	"password", "passphrase", "secret", "secret.key", "master.key", "access.key", "api.key", "private.key", "keystore.key", "encryption.key",
	"jaas.config", "credential", "credentials", "token", "sas.token",
}

// separators of the words of a property.
var separators = strings.NewReplacer("_", ".", "-", ".")

// Secret reports whether a property contains a secret, which must not be in a ConfigMap. A reference that a config provider of
// Kafka resolves in the broker, such as ${env:NAME} or ${file:/path:key}, is no secret.
func Secret(property, value string) bool {
	if value == "" || strings.HasPrefix(value, "${") && strings.HasSuffix(value, "}") {
		return false
	}
	name := separators.Replace(strings.ToLower(property))
	return slices.ContainsFunc(secret, func(end string) bool { return name == end || strings.HasSuffix(name, "."+end) })
}
