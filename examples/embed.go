// Package examples contains resources to apply. detent dev applies those of Kafka.
package examples

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

//go:embed kafka/*.yaml
var kafka embed.FS

// Kafka returns the example clusters sorted by file name, each file as YAML documents.
func Kafka() ([][]byte, error) {
	names, err := fs.Glob(kafka, path.Join("kafka", "*.yaml"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	out := make([][]byte, 0, len(names))
	for _, name := range names {
		data, err := kafka.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading example %s: %w", name, err)
		}
		out = append(out, data)
	}
	return out, nil
}
