package plan

import (
	"maps"
	"regexp"

	"k8s.io/apimachinery/pkg/util/json"
	strictjson "sigs.k8s.io/json"

	"github.com/detent-dev/detent/internal/objects"
)

// Document is a World document. It decodes strictly and records the path of every error.
type Document struct {
	manifest objects.Manifest
	// rest is what has not been decoded.
	rest     map[string]any
	findings []finding
}

func decodeWorld(kinds []Kind, m objects.Manifest) (World, []finding) {
	d := Document{manifest: m, rest: maps.Clone(m.Object.Object)}
	w := World{Sections: map[string]Section{}}
	for i := range kinds {
		w.Sections[kinds[i].Name] = kinds[i].ReadWorld(&d)
	}
	d.decode("", d.rest, &w)
	return w, d.findings
}

// Take decodes a section into a value and removes it from the document. It does nothing if the document lacks the section.
func (d *Document) Take(section string, into any) {
	if content, ok := d.rest[section]; ok {
		delete(d.rest, section)
		d.decode(section, content, into)
	}
}

// Entries decodes a section whose keys are arbitrary names, and removes it from the document. It returns nil if the document lacks
// the section.
func Entries[T any](d *Document, section string) map[string]T {
	content, ok := d.rest[section].(map[string]any)
	if !ok {
		var wrong map[string]T
		d.Take(section, &wrong) // reports the wrong type
		return nil
	}
	delete(d.rest, section)
	out := make(map[string]T, len(content))
	for _, name := range sorted(content) {
		var entry T
		d.decode(section+"."+name, content[name], &entry)
		out[name] = entry
	}
	return out
}

var unknownField = regexp.MustCompile(`^unknown field "(.+)"$`)

func (d *Document) decode(path string, value, into any) {
	text, err := json.Marshal(value)
	if err != nil {
		d.Fail(path, err.Error())
		return
	}
	strict, err := strictjson.UnmarshalStrict(text, into)
	if err != nil {
		f := typeFinding(d.manifest, err)
		d.Fail(join(path, f.field), f.problem)
	}
	for _, s := range strict {
		if found := unknownField.FindStringSubmatch(s.Error()); found != nil {
			d.Fail(join(path, found[1]), "unknown field")
			continue
		}
		d.Fail(path, s.Error())
	}
}

// Fail records an invalid field.
func (d *Document) Fail(field, problem string) {
	d.findings = append(d.findings, finding{source: d.manifest.Source, of: describe(d.manifest), field: field, problem: problem})
}

func join(path, field string) string {
	if path == "" || field == "" {
		return path + field
	}
	return path + "." + field
}
