// Command detent runs the operator: the manager, a local development environment, and commands that show the state of objects
// and predict what the operator will do. Installed as kubectl-detent it is a plugin of kubectl.
package main

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/cli"
	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/commands"
	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds"
)

func main() { os.Exit(cli.Main(newRoot(filepath.Base(os.Args[0]), kinds.All()))) }

// run executes one command line as main does, and returns its exit code.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	return commands.Run(ctx, newRoot(filepath.Base(args[0]), kinds.All()), args[1:], out, errs)
}

func newRoot(name string, kinds []registration.Kind) *cobra.Command {
	root := &cobra.Command{
		Use: "detent", Short: "Lifecycles of Kubernetes resources as explicit state machines",
		Long: "Detent drives the lifecycles of Kubernetes resources as explicit state machines whose state is kept in the\nresource's status.",
	}
	root.Version = built()
	root.SetVersionTemplate("detent {{.Version}}\n")
	if name == "kubectl-detent" {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl detent"}
	}
	root.AddCommand(newDevCommand(kinds), newManagerCommand(kinds), newPlanCommand(kinds), newVersionCommand())
	root.AddCommand(commands.All("detent", func(flags *pflag.FlagSet) func() ([]catalogue.Machine, error) {
		return registration.Machines(kinds, flags)
	})...)
	return root
}
