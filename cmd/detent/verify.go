package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/detent-dev/detent/internal/catalogue"
)

const verifyLong = `Judge the machines of this binary as a whole: by their declared graphs, and by their guards over finite domains of facts.

Asked is that every state leads to a rest, that nothing goes round without the world having moved, which exits of a state say
yes together, that a state that stays says what for, that a changed spec is acted upon in every state, and that what is held is
given back on every path. No cluster is needed.

Exit codes: 0 nothing was found, 1 something was.`

const verifyExample = `  detent verify --machines
  detent verify --machine node-roll --notes
  detent verify --machines -o json`

func newVerifyCommand() *cobra.Command {
	var all, notes bool
	var name string
	output := "text"
	cmd := &cobra.Command{
		Use: "verify --machines | --machine NAME", Short: "Judge the machines as a whole", Args: cobra.NoArgs, Long: verifyLong, Example: verifyExample,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all == (name != "") {
				return errors.New("say what to verify: either --machines for all of them, or --machine NAME")
			}
			if err := checkOutput(output); err != nil {
				return err
			}
			reports, err := catalogue.Verify(name)
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
	flags.StringVar(&name, "machine", "", "verify this machine alone")
	flags.BoolVar(&notes, "notes", false, "show also what is only worth knowing: which exits say yes together, which cycles only the meaning of guards breaks")
	flags.StringVarP(&output, "output", "o", output, "text or json")
	return cmd
}
