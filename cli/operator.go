package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/detent-dev/detent/internal/garbage"
	"github.com/detent-dev/detent/internal/lease"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// Operator returns the root command of a binary that runs an operator on the cluster of the current kubeconfig until it is interrupted.
// setup registers the operator with the manager; it may read flags that were added to the command. types register the types of the
// custom resource; those of Kubernetes are registered. The command has the commands for the machines.
//
// In a pod the operator takes a lease, so that of several replicas one works: it is in the namespace of the pod, and has the name of the
// binary unless --lease-name is set. Outside of a pod there is none without --leader-elect.
func Operator(binary, short string, setup func(mgr ctrl.Manager) error, types func(*k8sruntime.Scheme) error, all ...Machine) *cobra.Command {
	o := operator{setup: setup, types: types}
	root := &cobra.Command{Use: binary, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		ctrl.SetLogger(zap.New())
		return o.run(cmd.Context())
	}}
	o.election.addFlags(root.Flags(), binary, lease.NamespaceFile)
	root.AddCommand(Commands(binary, all...)...)
	return root
}

// operator is what the root command runs.
type operator struct {
	setup    func(mgr ctrl.Manager) error
	types    func(*k8sruntime.Scheme) error
	election election
}

// run runs a manager until ctx is done.
func (o *operator) run(ctx context.Context) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{clientgoscheme.AddToScheme, o.types} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("registering types: %w", err)
		}
	}
	options := ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "127.0.0.1:0"}, NewClient: lifecycle.NewClient,
		Cache: cache.Options{DefaultTransform: lifecycle.CacheTransform()},
	}
	stop, err := o.election.configure(&options, config)
	if err != nil {
		return err
	}
	defer stop()
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return fmt.Errorf("reaching the cluster: %w", err)
	}
	if err := garbage.AddTo(mgr); err != nil {
		return fmt.Errorf("limiting the memory for garbage: %w", err)
	}
	if err := o.setup(mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
