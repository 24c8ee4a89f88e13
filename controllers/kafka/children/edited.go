package children

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
)

// seal annotates a node's ConfigMap with the hashes of its contents, before it is written. The hash of a content that this write leaves as
// it was before is kept, so that no write vouches for what someone else has edited.
func seal(m *corev1.ConfigMap, before map[string]string) {
	known := contentHashes(m)
	parts := make([]string, 0, len(m.Data))
	for _, key := range slices.Sorted(maps.Keys(m.Data)) {
		hash, content := known[key], m.Data[key]
		if old, kept := before[key]; hash == "" || !kept || old != content {
			hash = render.ContentHash(content)
		}
		parts = append(parts, key+"="+hash)
	}
	m.Annotations = over(m.Annotations, map[string]string{labels.ContentHashes: strings.Join(parts, " ")})
}

// contentHashes returns the hashes that the operator wrote, by key. There are none in an object of an older operator.
func contentHashes(m *corev1.ConfigMap) map[string]string {
	out := map[string]string{}
	for part := range strings.FieldsSeq(m.Annotations[labels.ContentHashes]) {
		if key, hash, ok := strings.Cut(part, "="); ok {
			out[key] = hash
		}
	}
	return out
}

// edited returns the mounted keys whose content someone else has edited: it is neither what the operator wrote nor what is desired. While
// Kafka opposes what is desired, nothing can be put in its place.
func (t *scope) edited(have *corev1.ConfigMap, want map[string]string, mounted []string) []string {
	var known map[string]string
	var out []string
	for _, key := range mounted {
		content, exists := have.Data[key]
		if desired, same := want[key]; !exists || same && desired == content || slices.Contains(out, key) {
			continue
		}
		if known == nil {
			known = contentHashes(have)
		}
		_, restorable := want[render.StandIn(key, want)]
		if hash := known[key]; hash != "" && hash != render.ContentHash(content) && restorable {
			out = append(out, key)
		}
	}
	if len(out) > 0 && observation.AcceptanceOf(t.kafka, t.snapshot) != observation.Unopposed {
		return nil
	}
	return out
}
