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
			revision := "unknown revision"
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = s.Value
					}
				}
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "detent %s (%s)\n", version, revision)
			return err
		},
	}
}
