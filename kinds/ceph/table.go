package ceph

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/clients/ceph/versions"
)

// tableFlag adds the flag of the table of releases, and returns a function that reads the table. file is the value of the flag.
func tableFlag(flags *pflag.FlagSet) (file *string, table func() (*versions.Table, error)) {
	file = flags.String("ceph-versions", "", "file with the table of Ceph releases; default: the built-in one")
	return file, func() (*versions.Table, error) { return tableOf(*file) }
}

// tableOf reads the table of Ceph releases from a file. An empty name selects the built-in table.
func tableOf(file string) (*versions.Table, error) {
	if file == "" {
		return versions.Embedded()
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the table of Ceph releases: %w", err)
	}
	return versions.Parse(data, file)
}
