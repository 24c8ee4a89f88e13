// Command cmd runs the hello operator on the cluster of the current kubeconfig, until it is interrupted. Its commands draw,
// explain, verify and replay the machine.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/detent-dev/detent/cli"
	"github.com/detent-dev/detent/examples/hello"
	"github.com/detent-dev/detent/examples/hello/api"
)

func main() {
	ctrl.SetLogger(zap.New())
	root := &cobra.Command{Use: "hello", Short: "Speak greetings until interrupted", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		config, err := ctrl.GetConfig()
		if err != nil {
			return err
		}
		return run(cmd.Context(), config)
	}}
	root.AddCommand(cli.Commands("hello", cli.Of(hello.Machine, hello.Domain()))...)
	os.Exit(cli.Main(root))
}

// run reconciles greetings until ctx is done.
func run(ctx context.Context, config *rest.Config) error {
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("registering types: %w", err)
		}
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "127.0.0.1:0"}})
	if err != nil {
		return fmt.Errorf("reaching the cluster: %w", err)
	}
	if err := hello.Operator.SetupWithManager(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
