package commands

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"github.com/detent-dev/detent/graph"
	"github.com/detent-dev/detent/internal/catalogue"
)

const graphExample = `  BINARY graph MACHINE
  BINARY graph MACHINE -o svg --theme dark > dark.svg
  BINARY graph TYPE/NAME -n prod
  kubectl get TYPE NAME -o yaml | BINARY graph -f -`

func newGraph(binary string, source Source) *cobra.Command {
	r := catalogue.Request{}
	machines := source(nil)
	format, theme := string(catalogue.Text), string(graph.Light)
	cmd := &cobra.Command{
		Use: "graph MACHINE | TYPE/NAME", Short: "Draw a machine, or the state of an object on it", Args: oneDrawing, Example: examples(binary, graphExample),
		Long: "Draw a machine from the code that runs, or the state of an object on it.\n\nThe object is read from the cluster of the kubeconfig, or from files that were saved from one.",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Format, r.Theme, r.Now = catalogue.Format(format), graph.Theme(theme), clock.RealClock{}.Now()
			if r.Theme != graph.Light && r.Theme != graph.Dark {
				return fmt.Errorf("--theme %q: it is either %s or %s", theme, graph.Light, graph.Dark)
			}
			var err error
			if r.Machines, err = machines(); err != nil {
				return err
			}
			if len(args) > 0 {
				r.What = args[0]
			} else if len(r.Files) == 0 {
				return noMachine(r.Machines)
			}
			t := TerminalOf(cmd.OutOrStdout())
			r.Text = graph.TextOptions{Width: t.Width, ASCII: t.ASCII}
			p, err := catalogue.Draw(cmd.Context(), r, cmd.InOrStdin())
			if err != nil {
				return err
			}
			for _, n := range p.Notices {
				cmd.PrintErrln("note: " + n)
			}
			_, err = cmd.OutOrStdout().Write(p.Content)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&format, "output", "o", format, "text, svg, mermaid, dot or json")
	flags.StringVar(&theme, "theme", theme, "of an SVG: light or dark")
	objectFlags(flags, &r)
	return cmd
}

func oneDrawing(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("name one machine, or one object as TYPE/NAME: got %d arguments", len(args))
	}
	return nil
}

// objectFlags adds the flags that name an object.
func objectFlags(flags *pflag.FlagSet, r *catalogue.Request) {
	flags.StringSliceVarP(&r.Files, "filename", "f", nil, "files to read the object from, instead of the cluster; - is standard input")
	flags.StringVar(&r.Lifecycle, "lifecycle", "", "lifecycle of the object; default: the one in its status.summary")
	flags.StringVarP(&r.Cluster.Namespace, "namespace", "n", "", "namespace of the object; default: that of the kubeconfig's context")
	flags.StringVar(&r.Cluster.Kubeconfig, "kubeconfig", "", "kubeconfig file; default: $KUBECONFIG, else ~/.kube/config")
	flags.StringVar(&r.Cluster.Context, "context", "", "context of the kubeconfig")
}

// noMachine returns an error that lists the machines that can be drawn.
func noMachine(all []catalogue.Machine) error {
	return errors.New("name a machine or an object: there are the machines " + catalogue.Names(all) + "; an object is written as TYPE/NAME")
}
