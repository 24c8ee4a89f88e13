// Package crds carries the CustomResourceDefinitions of every kind that Detent drives, so that a local control plane, tests and
// previews use exactly what is installed in a cluster. They are generated from the Go types below this folder.
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

// Definitions are the CustomResourceDefinitions, in the order of their names. Every call decodes them anew, so that a caller may
// change what it gets. An error means that the binary was built with a broken file and names it.
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
