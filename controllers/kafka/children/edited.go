package children

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/render"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
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

// withoutEdits returns the entries of the pool's set with the restored ones in place of those that someone has edited.
func (t *scope) withoutEdits(pool string, have, restored []corev1beta2.PodEntry) []corev1beta2.PodEntry {
	edited := map[string]bool{}
	for i := range t.snapshot.Nodes {
		if n := &t.snapshot.Nodes[i]; n.Pool == pool && n.Entry.Edited {
			edited[n.PodName] = true
		}
	}
	if len(edited) == 0 || len(restored) == 0 {
		return have
	}
	written := make(map[string]corev1beta2.PodEntry, len(restored))
	for _, entry := range restored {
		if pod, err := entry.Pod(); err == nil && edited[pod.Name] {
			written[pod.Name] = entry
		}
	}
	out := slices.Clone(have)
	for i := range out {
		if pod, err := out[i].Pod(); err == nil {
			if entry, found := written[pod.Name]; found {
				out[i] = entry
			}
		}
	}
	return out
}

// edited returns the mounted keys whose content someone else has edited: it is neither what the operator wrote nor what is desired. While
// nodes may not be started with what is desired, only what the operator wrote before is put in its place.
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
	if len(out) > 0 && !observation.Startable(t.kafka, t.snapshot) {
		return slices.DeleteFunc(out, func(key string) bool { return known[key] != render.ContentHash(want[render.StandIn(key, want)]) })
	}
	return out
}
