// Command manifests writes the manifests of package config into the folder that is its argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/detent-dev/detent/config"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	managed, err := registration.Managed(kinds.All())
	if err != nil {
		return err
	}
	files, err := config.Files(managed)
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
