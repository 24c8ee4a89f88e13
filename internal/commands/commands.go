// Package commands implements the commands about machines: graph, explain, verify and replay. They are the same in every binary and
// take its machines from a Source.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/detent-dev/detent/internal/catalogue"
)

// Source returns the machines of a binary. It adds flags to a command, and returns a function that makes the machines after the
// flags were parsed. The flags may be nil, for their defaults.
type Source func(flags *pflag.FlagSet) func() ([]catalogue.Machine, error)

// All returns the commands. binary is the name of the binary in their help.
func All(binary string, machines Source) []*cobra.Command {
	return []*cobra.Command{newExplain(binary, machines), newGraph(binary, machines), newReplay(binary, machines), newVerify(binary, machines)}
}

// Exit is an error with an exit code. If Err is nil, Run prints nothing: there is no error, or it has already been printed.
type Exit struct {
	Code int
	Err  error
}

func (e *Exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *Exit) Unwrap() error { return e.Err }

// Run executes one command line without the name of the binary. It prints an error after the name of the root command, and returns
// the exit code.
func Run(ctx context.Context, root *cobra.Command, args []string, out, errs io.Writer) int {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	checkTopics(root)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	code := 1
	if coded := (*Exit)(nil); errors.As(err, &coded) {
		code = coded.Code
		if coded.Err == nil {
			return code
		}
	}
	fmt.Fprintln(errs, root.Name()+": "+strings.TrimSpace(err.Error()))
	return code
}

// checkTopics makes the command help fail if it is asked about a command that does not exist.
func checkTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() != "help" {
			continue
		}
		c.Args = func(_ *cobra.Command, args []string) error {
			if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
				return fmt.Errorf("there is no command %q: %s --help lists the commands", strings.Join(args, " "), root.CommandPath())
			}
			return nil
		}
	}
}

// examples inserts the name of the binary.
func examples(binary, text string) string { return strings.ReplaceAll(text, "BINARY", binary) }
