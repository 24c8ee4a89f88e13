package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version of this build. The linker sets it for a release.
var version = "0.1.0-dev" //nolint:gochecknoglobals // -ldflags -X needs a variable

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of this binary", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "detent %s\n", built())
			return err
		},
	}
}

// built is the version of this binary with the revision of its sources.
func built() string {
	revision := "unknown revision"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	return fmt.Sprintf("%s (%s)", version, revision)
}
