// Package cli mounts the commands about machines in a binary with machines of its own: graph draws a machine or the state of an
// object, explain describes it in words, verify checks the machines as a whole, and replay lists the decisions of a journal that
// this build would make differently. The detent binary has the same commands. Operator is the whole command line of a binary that
// runs one operator.
package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/commands"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
)

// Machine is a machine of a binary. Make it with Of.
type Machine struct {
	make func() (catalogue.Machine, error)
}

// Of returns a machine for the commands. verify checks it over the domains; without one it checks the declared graph alone. A
// definition with structural defects fails the commands. For replay, the facts must encode as JSON.
func Of[F, D, E any](definition machines.Definition[F, D, E], domains ...domain.Domain[F, D]) Machine {
	return Machine{make: func() (catalogue.Machine, error) {
		return catalogue.Of(definition, catalogue.Domains(domains...), nil)
	}}
}

// Commands returns the commands graph, explain, verify and replay for the machines. binary is the name of the binary in their help.
func Commands(binary string, all ...Machine) []*cobra.Command {
	return commands.All(binary, func(*pflag.FlagSet) func() ([]catalogue.Machine, error) {
		return func() ([]catalogue.Machine, error) {
			made := make([]catalogue.Machine, len(all))
			for i, m := range all {
				var err error
				if made[i], err = m.make(); err != nil {
					return nil, err
				}
			}
			return made, nil
		}
	})
}

// Main executes the command line of the process with the root command, and returns the exit code. An error is printed to standard
// error. The context of the command ends with SIGINT or SIGTERM; the second signal ends the process at once.
//
//	func main() { os.Exit(cli.Main(root)) }
func Main(root *cobra.Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // restores the default handling
	return commands.Run(ctx, root, os.Args[1:], os.Stdout, os.Stderr)
}
