// Package crds embeds the CustomResourceDefinitions of every kind that Detent reconciles, so that a local control plane, tests
// and plans use the definitions that are installed in a cluster. They are generated from the Go types below this folder.
package crds

import (
	"embed"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed generated/*.yaml
var generated embed.FS

// Definitions returns the CustomResourceDefinitions, sorted by name. Every call decodes them again, so that a caller may modify
// the result. An error names the embedded file that cannot be decoded.
func Definitions() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	paths, err := fs.Glob(generated, "generated/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing definitions: %w", err)
	}
	definitions := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(paths))
	for _, path := range paths {
		definition, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("reading definition %s: %w", path, err)
		}
		definitions = append(definitions, definition)
	}
	return definitions, nil
}

func read(path string) (*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := generated.ReadFile(path)
	if err != nil {
		return nil, err
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, definition); err != nil {
		return nil, err
	}
	return definition, nil
}
