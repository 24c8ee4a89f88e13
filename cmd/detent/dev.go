package main

import (
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/detent-dev/detent/examples"
	"github.com/detent-dev/detent/internal/dev"
)

func newDevCommand() *cobra.Command {
	o := dev.Options{}
	none := false
	cmd := &cobra.Command{
		Use: "dev", Short: "Run everything on this machine: a real API server, the operator, a simulated world", Args: cobra.NoArgs,
		Long: "Run a real etcd and kube-apiserver on loopback, the operator, simulated nodes and Kafka clusters, and the examples.\n" +
			"No root, no Docker, no cluster. Ctrl-C stops everything and leaves nothing behind. Not for production.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctrl.SetLogger(logr.Discard())
			klog.SetLogger(logr.Discard())
			var err error
			if o.Executable, err = os.Executable(); err != nil {
				return fmt.Errorf("finding this binary, which runs the manager: %w", err)
			}
			if !none {
				if o.Examples, err = examples.Kafka(); err != nil {
					return err
				}
			}
			o.Out, o.Log = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return dev.Run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Dir, "dir", "", "directory for logs and kubeconfigs; default: a temporary one")
	flags.BoolVar(&o.Keep, "keep", false, "keep the directory at the end")
	flags.IntVar(&o.Port, "port", 0, "port of the API server; 0 for a free one")
	flags.Float64Var(&o.Speed, "speed", 1, "simulated seconds that pass in a second")
	flags.BoolVar(&none, "no-examples", false, "apply no example resources")
	return cmd
}
