package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/detent-dev/detent/internal/commands"
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
//
// --journal appends the decisions of all reconcilers of the manager to a file, which the command replay reads.
func Operator(binary, short string, setup func(mgr ctrl.Manager) error, types func(*k8sruntime.Scheme) error, all ...Machine) *cobra.Command {
	o := operator{setup: setup, types: types}
	root := &cobra.Command{Use: binary, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		ctrl.SetLogger(zap.New())
		return o.run(cmd.Context(), cmd.OutOrStdout())
	}}
	o.election.addFlags(root.Flags(), binary, lease.NamespaceFile)
	commands.JournalFlag(root.Flags(), binary, &o.journal)
	root.AddCommand(Commands(binary, all...)...)
	return root
}

// operator is what the root command runs.
type operator struct {
	setup    func(mgr ctrl.Manager) error
	types    func(*k8sruntime.Scheme) error
	election election
	journal  string
}

// run runs a manager with the journal until ctx is done. The journal - is out.
func (o *operator) run(ctx context.Context, out io.Writer) error {
	j, closeIt, err := commands.OpenJournal(o.journal, out, func(err error) { ctrl.Log.Error(err, "decisions are missing from the journal") })
	if err != nil {
		return err
	}
	base := context.Background
	if j != nil {
		base = func() context.Context { return lifecycle.WithJournal(context.Background(), j) }
	}
	return errors.Join(o.manage(ctx, base), closeIt())
}

// manage runs a manager until ctx is done. base is the context of its controllers.
func (o *operator) manage(ctx context.Context, base manager.BaseContextFunc) error {
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
		Cache: cache.Options{DefaultTransform: lifecycle.CacheTransform()}, BaseContext: base,
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
