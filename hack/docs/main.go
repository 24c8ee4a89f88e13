// Command docs writes the pages and pictures of all machines into the folder that is its argument, and removes files of
// machines that no longer exist.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the folder to write to, got %d arguments", len(args))
	}
	all, err := registration.Machines(kinds.All(), nil)()
	if err != nil {
		return err
	}
	return write(args[0], catalogue.Pages(all))
}

// write makes the folder contain exactly these files. It does not write a file whose content is current.
func write(folder string, files map[string]string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making the folder of the pages: %w", err)
	}
	old, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("reading the folder of the pages: %w", err)
	}
	for _, entry := range old {
		if _, wanted := files[entry.Name()]; wanted || entry.IsDir() {
			continue
		}
		if err := os.Remove(filepath.Join(folder, entry.Name())); err != nil {
			return fmt.Errorf("removing a page of no machine: %w", err)
		}
	}
	for name, content := range files {
		path := filepath.Join(folder, name)
		if was, err := os.ReadFile(path); err == nil && string(was) == content {
			continue
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil { //nolint:gosec // documentation is for everyone to read
			return fmt.Errorf("writing a page: %w", err)
		}
	}
	return nil
}
