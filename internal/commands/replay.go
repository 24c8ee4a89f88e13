package commands

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/runtime/journal"
)

const replayLong = `Repeat, with the machines of this binary, the decisions that a manager of another build made, and list the objects that would
take another transition. The journal is what a manager with a journal wrote. Nothing is applied, and no cluster is needed.

Lines that cannot be replayed are counted by reason: a machine or state of another build, facts that this build needs and that
the other build did not record, and truncated lines.

Exit codes: 0 every replayed decision is the same, 1 a decision differs or nothing could be replayed.`

const replayExample = `  BINARY replay decisions.jsonl
  kubectl logs -n NAMESPACE deploy/MANAGER | BINARY replay - -o json`

func newReplay(binary string, source Source) *cobra.Command {
	output := "text"
	var machines func() ([]catalogue.Machine, error)
	cmd := &cobra.Command{
		Use: "replay FILE", Short: "List the decisions of a journal that this build would make differently", Args: oneJournal, Long: replayLong, Example: examples(binary, replayExample),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := CheckOutput(output); err != nil {
				return err
			}
			report, err := replayed(args[0], machines, cmd.InOrStdin())
			if err != nil {
				return err
			}
			if err := printReport(cmd.OutOrStdout(), output, report, report.String()); err != nil {
				return err
			}
			switch {
			case report.Replayed() == 0:
				return errors.New("nothing could be replayed: name the file that a manager with a journal wrote")
			case len(report.Differences) > 0:
				return fmt.Errorf("%d decisions would differ", report.Replayed()-report.Same)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", output, "text or json")
	machines = source(cmd.Flags())
	return cmd
}

func oneJournal(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name one file with a journal, or - for standard input: got %d arguments", len(args))
	}
	return nil
}

func replayed(file string, machines func() ([]catalogue.Machine, error), in io.Reader) (*journal.Report, error) {
	all, err := machines()
	if err != nil {
		return nil, err
	}
	replays := make([]journal.Machine, len(all))
	for i := range all {
		replays[i] = all[i].Replay
	}
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("opening the journal: %w", err)
		}
		defer opened.Close()
		in = opened
	}
	report, err := journal.Replay(in, replays...)
	return &report, err
}
