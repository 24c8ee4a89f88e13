package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
)

// reserved are the properties that the cluster manages itself: exact names, and what names begin with if they end in a dot.
// Who sets one would take away what the lifecycles rest on: identity, roles, addresses, storage, and levels of features.
var reserved = []string{
	"node.id", "broker.id", "broker.id.generation.enable", "broker.rack", "process.roles",
	"listeners", "advertised.", "listener.", "inter.broker.listener.name", "control.plane.listener.name", "early.start.listeners",
	"host.name", "port", "security.", "sasl.", "ssl.", "authorizer.", "super.users",
	"controller.listener.names", "controller.quorum.voters", "controller.quorum.bootstrap.servers", "controller.quorum.auto.join.enable",
	"log.dir", "log.dirs", "metadata.log.dir", "cordoned.log.dirs", "unstable.", "zookeeper.",
}

// allowed are properties within reserved groups that are safe.
var allowed = []string{
	"sasl.server.max.receive.size", "ssl.cipher.suites", "ssl.enabled.protocols", "ssl.protocol", "ssl.secure.random.implementation",
	"security.providers",
}

// Reserved says whether a property is managed by the cluster itself, so that what a user sets is left out. Per-listener
// settings (listener.name.*) are reserved as a whole.
func Reserved(property string) bool {
	if slices.Contains(allowed, property) {
		return false
	}
	return slices.ContainsFunc(reserved, func(r string) bool {
		return property == r || strings.HasSuffix(r, ".") && strings.HasPrefix(property, r)
	})
}

// secret is how the names end of properties that Kafka, or what is plugged into it, takes for secrets: those of Kafka's type
// password, and what plugins call theirs.
var secret = []string{
	"password", "passphrase", "secret", "secret.key", "master.key", "access.key", "api.key", "private.key", "keystore.key", "encryption.key",
	"jaas.config", "credential", "credentials", "token", "sas.token",
}

// Secret says whether a property holds a secret by itself, so that it has no place in a ConfigMap. A reference that a config
// provider of Kafka resolves in the broker, such as ${env:NAME} or ${file:/path:key}, is none.
func Secret(property, value string) bool {
	if value == "" || strings.HasPrefix(value, "${") && strings.HasSuffix(value, "}") {
		return false
	}
	name := strings.NewReplacer("_", ".", "-", ".").Replace(strings.ToLower(property))
	return slices.ContainsFunc(secret, func(end string) bool { return name == end || strings.HasSuffix(name, "."+end) })
}

// writeProperties writes a file that java.util.Properties reads back as the same map, in the order of names.
func writeProperties(properties map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		escape(&b, name, true)
		b.WriteByte('=')
		escape(&b, properties[name], false)
		b.WriteByte('\n')
	}
	return b.String()
}

// escape writes text in the syntax of java.util.Properties, whose files are Latin-1.
func escape(b *strings.Builder, text string, key bool) {
	for i, r := range text {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\f':
			b.WriteString(`\f`)
		case r == '\\':
			b.WriteString(`\\`)
		case r == ' ' && (key || i == 0), key && strings.ContainsRune(":=", r), i == 0 && strings.ContainsRune("#!", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r > '~':
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(b, `\u%04x`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
}
