package plan

import (
	"maps"
	"regexp"

	"k8s.io/apimachinery/pkg/util/json"
	strictjson "sigs.k8s.io/json"

	"github.com/detent-dev/detent/internal/manifests"
)

// worldReader decodes a World document strictly and records the path of every error.
type worldReader struct {
	manifest manifests.Manifest
	findings []finding
}

func decodeWorld(m manifests.Manifest) (World, []finding) {
	r := worldReader{manifest: m}
	rest := maps.Clone(m.Object.Object)
	var w World
	w.Kafka = entries[KafkaWorld](&r, rest, "kafka")
	w.Connect = entries[ConnectWorld](&r, rest, "connect")
	w.Ceph = entries[CephWorld](&r, rest, "ceph")
	r.decode("", rest, &w)
	return w, r.findings
}

// entries decodes a section whose keys are arbitrary names, and removes the section from the document.
func entries[T any](r *worldReader, document map[string]any, section string) map[string]T {
	content, ok := document[section].(map[string]any)
	if !ok {
		return nil // absent, or of the wrong type, which decoding the rest of the document reports
	}
	delete(document, section)
	out := make(map[string]T, len(content))
	for _, name := range sorted(content) {
		var entry T
		r.decode(section+"."+name, content[name], &entry)
		out[name] = entry
	}
	return out
}

var unknownField = regexp.MustCompile(`^unknown field "(.+)"$`)

func (r *worldReader) decode(path string, value, into any) {
	text, err := json.Marshal(value)
	if err != nil {
		r.fail(path, err.Error())
		return
	}
	strict, err := strictjson.UnmarshalStrict(text, into)
	if err != nil {
		f := typeFinding(r.manifest, err)
		r.fail(join(path, f.field), f.problem)
	}
	for _, s := range strict {
		if found := unknownField.FindStringSubmatch(s.Error()); found != nil {
			r.fail(join(path, found[1]), "unknown field")
			continue
		}
		r.fail(path, s.Error())
	}
}

func (r *worldReader) fail(path, text string) {
	r.findings = append(r.findings, finding{source: r.manifest.Source, of: KindWorld, field: path, problem: text})
}

func join(path, field string) string {
	if path == "" || field == "" {
		return path + field
	}
	return path + "." + field
}
