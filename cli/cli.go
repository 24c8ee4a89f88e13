// Package cli mounts the commands about machines in a binary with machines of its own: graph draws a machine or the state of an
// object, explain describes it in words, verify checks the machines as a whole, and replay lists the decisions of a journal that
// this build would make differently. The detent binary has the same commands. Operator is the whole command line of a binary that
// runs one operator.
package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/commands"
	"github.com/detent-dev/detent/internal/garbage"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/domain"
	lifecycle "github.com/detent-dev/detent/runtime"
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

// Operator returns the root command of a binary that runs an operator on the cluster of the current kubeconfig until it is interrupted.
// setup registers the operator with the manager; it may read flags that were added to the command. types register the types of the
// custom resource; those of Kubernetes are registered. The command has the commands for the machines.
func Operator(binary, short string, setup func(mgr ctrl.Manager) error, types func(*k8sruntime.Scheme) error, all ...Machine) *cobra.Command {
	root := &cobra.Command{Use: binary, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		ctrl.SetLogger(zap.New())
		return run(cmd.Context(), setup, types)
	}}
	root.AddCommand(Commands(binary, all...)...)
	return root
}

// run runs a manager until ctx is done.
func run(ctx context.Context, setup func(mgr ctrl.Manager) error, types func(*k8sruntime.Scheme) error) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{clientgoscheme.AddToScheme, types} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("registering types: %w", err)
		}
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "127.0.0.1:0"}, NewClient: lifecycle.NewClient,
		Cache: cache.Options{DefaultTransform: lifecycle.CacheTransform()},
	})
	if err != nil {
		return fmt.Errorf("reaching the cluster: %w", err)
	}
	if err := garbage.AddTo(mgr); err != nil {
		return fmt.Errorf("limiting the memory for garbage: %w", err)
	}
	if err := setup(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
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
