package commands

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/detent-dev/detent/internal/catalogue"
	"github.com/detent-dev/detent/machines/verification"
)

const verifyLong = `Verify the machines of this binary as a whole: their declared graphs, and their guards over finite domains of facts.

The checks are that every state leads to a rest state, that no cycle repeats without an observed change, which transitions of a
state are enabled at the same time, that a state that waits names what it waits for, that every state reacts to a changed spec,
and that what is acquired is released on every path. No cluster is needed.

Exit codes: 0 no findings, 1 at least one finding.`

const verifyExample = `  BINARY verify --machines
  BINARY verify --machine NAME --notes
  BINARY verify --machines -o json`

func newVerify(binary string, source Source) *cobra.Command {
	var all, notes bool
	var name string
	output := "text"
	machines := source(nil)
	cmd := &cobra.Command{
		Use: "verify --machines | --machine NAME", Short: "Verify the machines as a whole", Args: onlyFlags, Long: verifyLong, Example: examples(binary, verifyExample),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all == (name != "") {
				return errors.New("name what to verify: either --machines for all of them, or --machine NAME")
			}
			if err := CheckOutput(output); err != nil {
				return err
			}
			reports, err := verified(machines, name)
			if err != nil {
				return err
			}
			found, text := 0, ""
			for i := range reports {
				found += reports[i].Findings()
				text += reports[i].Text(notes) + "\n"
			}
			if err := printReport(cmd.OutOrStdout(), output, reports, text); err != nil {
				return err
			}
			if found > 0 {
				return fmt.Errorf("%d findings in %d machines", found, len(reports))
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&all, "machines", false, "verify every machine of this binary")
	flags.StringVar(&name, "machine", "", "verify only this machine")
	flags.BoolVar(&notes, "notes", false, "show notes too: transitions that are enabled at the same time, and cycles that only the meaning of guards breaks")
	flags.StringVarP(&output, "output", "o", output, "text or json")
	return cmd
}

func onlyFlags(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is no flag: name a machine with --machine %s", args[0], args[0])
	}
	return nil
}

// verified returns the reports of the machines. A name selects one of them; an empty name selects all.
func verified(machines func() ([]catalogue.Machine, error), name string) ([]verification.Report, error) {
	all, err := machines()
	if err != nil {
		return nil, err
	}
	if name != "" {
		one, err := catalogue.Find(all, name)
		if err != nil {
			return nil, err
		}
		all = []catalogue.Machine{one}
	}
	reports := make([]verification.Report, len(all))
	for i := range all {
		if reports[i], err = all[i].Verify(); err != nil {
			return nil, err
		}
	}
	return reports, nil
}
