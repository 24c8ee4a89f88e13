package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/detent-dev/detent/internal/commands"
	"github.com/detent-dev/detent/internal/dev"
	"github.com/detent-dev/detent/internal/registration"
)

const devLong = `Run a real etcd and kube-apiserver on loopback, the operator, simulated nodes and systems, and the examples.
No root, no Docker, no cluster. Not for production.

The programs of the control plane come from $KUBEBUILDER_ASSETS, or are built once from source, which takes some minutes.
kube-controller-manager, and kubectl unless PATH has one, are built while the rest runs; a line says when they are ready.
The operator runs as a separate process and is restarted when it ends. Ctrl-C stops everything and removes all files.`

func newDevCommand(kinds []registration.Kind) *cobra.Command {
	o := dev.Options{}
	var chosen func() ([]dev.Kind, error)
	cmd := &cobra.Command{
		Use: "dev", Short: "Run everything on this machine: a real API server, the operator, a simulated world", Args: cobra.NoArgs, Long: devLong,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// If the output is piped into a program, Ctrl-C ends that program too. A write to the closed pipe must not end this
			// process before it has cleaned up.
			signal.Ignore(syscall.SIGPIPE)
			ctrl.SetLogger(logr.Discard())
			klog.SetLogger(logr.Discard())
			if o.Speed == 0 { // an option that is not set is the default
				return errors.New("--speed 0: time moves forward, so it must be above 0")
			}
			var err error
			if o.Executable, err = os.Executable(); err != nil {
				return fmt.Errorf("finding this binary, which runs the manager: %w", err)
			}
			if o.Kinds, err = chosen(); err != nil {
				return err
			}
			terminal := commands.TerminalOf(cmd.OutOrStdout())
			o.Out, o.Log, o.Width, o.ASCII = cmd.OutOrStdout(), cmd.ErrOrStderr(), terminal.Width, terminal.ASCII
			return dev.Run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	chosen = registration.Each(kinds, flags, func(k registration.Kind) registration.Part[dev.Kind] { return k.Dev })
	flags.StringVar(&o.Dir, "dir", "", "directory under which everything is written while it runs; default: the one for temporary files")
	flags.StringVar(&o.Keep, "keep", "", "directory to copy the logs to at the end; default: the logs are removed with everything else")
	flags.IntVar(&o.Port, "port", 0, "port of the API server; 0 for a free one")
	flags.Float64Var(&o.Speed, "speed", 1, "simulated seconds per second; the operator's own durations shrink accordingly")
	flags.BoolVar(&o.NoExamples, "no-examples", false, "apply no example resources")
	return cmd
}
