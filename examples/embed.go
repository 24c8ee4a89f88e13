// Package examples contains resources to apply, in a folder for each system. detent dev applies them.
package examples

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

//go:embed */*.yaml
var files embed.FS

// Of returns the resources of a folder, sorted by file name, each file as YAML documents.
func Of(folder string) ([][]byte, error) {
	names, err := fs.Glob(files, path.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("reading the examples of %s: there are none", folder)
	}
	slices.Sort(names)
	out := make([][]byte, 0, len(names))
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading example %s: %w", name, err)
		}
		out = append(out, data)
	}
	return out, nil
}
