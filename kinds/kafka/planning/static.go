package planning

import (
	"strings"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
)

// startedWith returns the properties with the dynamic configurations that the existing pod was started with: those of the file that it
// mounts. A pod whose file is not in the input was started with the declared ones.
func (b *background) startedWith(p *process, properties string) string {
	if p.pod == nil {
		return properties
	}
	m := observation.Named(b.snapshot.Objects.ConfigMaps, p.pod.Name)
	if m == nil {
		return properties
	}
	for _, key := range observation.ConfigKeys(&p.pod.Spec, p.pod.Name) {
		if text, found := m.Data[key]; found && isServer(key) {
			return pick(properties, false) + pick(text, true)
		}
	}
	return properties
}

// isServer reports whether a key of a node's ConfigMap is that of Kafka's own properties.
func isServer(key string) bool { return strings.HasPrefix(key, "server-") }

// pick returns the lines of properties that set dynamic and generated configurations, or the others.
func pick(properties string, dynamic bool) string {
	var b strings.Builder
	for line := range strings.Lines(properties) {
		name, _, _ := strings.Cut(line, "=")
		if (kafkaclient.Dynamic(name) || kafkaclient.Generated(name)) == dynamic {
			b.WriteString(line)
		}
	}
	return b.String()
}
