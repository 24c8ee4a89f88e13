package commands

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/internal/explain"
	"github.com/detent-dev/detent/internal/objects"
)

const explainLong = `Explain a state: what it is, what it waits for, and which transitions leave it.

A state is explained on every machine that has it. For an object, the persisted state of a lifecycle is explained: since when, what
it waits for, until when, and what can happen next. The object is read from the cluster of the kubeconfig, or from files that were
saved from one. A machine alone lists its states.`

const explainExample = `  BINARY explain MACHINE
  BINARY explain STATE
  BINARY explain MACHINE STATE
  BINARY explain TYPE/NAME -n prod
  kubectl get TYPE NAME -o yaml | BINARY explain -f -`

func newExplain(binary string, source Source) *cobra.Command {
	r := catalogue.Request{}
	machines := source(nil)
	cmd := &cobra.Command{
		Use: "explain [MACHINE] STATE | MACHINE | TYPE/NAME", Short: "Explain a state of a machine, or the state of an object",
		Args: machineAndState, Long: explainLong, Example: examples(binary, explainExample),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if r.Machines, err = machines(); err != nil {
				return err
			}
			var text string
			switch {
			case len(args) == 0 && len(r.Files) == 0:
				return fmt.Errorf("name a state, or an object as TYPE/NAME: there are the machines %s", catalogue.Names(r.Machines))
			case len(args) < 2 && (len(r.Files) > 0 || objects.IsReference(args[0])):
				text, err = explainObject(cmd, r, args)
			default:
				text, err = explainState(r.Machines, args)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		},
	}
	objectFlags(cmd.Flags(), &r)
	return cmd
}

func machineAndState(_ *cobra.Command, args []string) error {
	if len(args) > 2 {
		return fmt.Errorf("name a machine and one of its states, or an object as TYPE/NAME: got %d arguments", len(args))
	}
	return nil
}

func explainObject(cmd *cobra.Command, r catalogue.Request, args []string) (string, error) {
	if len(args) > 0 {
		r.What = args[0]
	}
	at, err := r.Position(cmd.Context(), cmd.InOrStdin())
	if err != nil {
		return "", err
	}
	for _, n := range at.Notices {
		cmd.PrintErrln("note: " + n)
	}
	return explain.Position(at, clock.RealClock{}.Now()), nil
}

// explainState explains a machine, a state of every machine that has it, or a state of one machine.
func explainState(all []catalogue.Machine, args []string) (string, error) {
	one, err := catalogue.Find(all, args[0])
	switch {
	case err == nil && len(args) == 1:
		return explain.Machine(one.Graph), nil
	case err == nil:
		all = []catalogue.Machine{one}
	case len(args) == 2:
		return "", err
	}
	text := ""
	for i := range all {
		if found, ok := explain.State(all[i].Graph, args[len(args)-1]); ok {
			if text != "" {
				text += "\n"
			}
			text += found
		}
	}
	if text == "" {
		return "", fmt.Errorf("there is no state %q in %s: list the states of a machine with explain MACHINE; an object is written as TYPE/NAME",
			args[len(args)-1], catalogue.Names(all))
	}
	return text, nil
}
