// Package examples contains resources to apply. detent dev applies those of Kafka and of Ceph.
package examples

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

//go:embed kafka/*.yaml ceph/*.yaml
var files embed.FS

// Kafka returns the example clusters of Kafka sorted by file name, each file as YAML documents.
func Kafka() ([][]byte, error) { return read("kafka") }

// Ceph returns the example clusters of Ceph, as Kafka does those of Kafka.
func Ceph() ([][]byte, error) { return read("ceph") }

func read(folder string) ([][]byte, error) {
	names, err := fs.Glob(files, path.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
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
