package cli_test

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/detent-dev/detent/cli"
	"github.com/detent-dev/detent/examples/hello"
)

// A binary with a root command of its own adds the commands to it.
func ExampleCommands() {
	root := &cobra.Command{Use: "hello"}
	root.AddCommand(cli.Commands("hello", cli.Of(hello.Machine, hello.Domain()))...)
	root.SetArgs([]string{"explain", "Settled"})
	if err := root.Execute(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Settled (Rest) of hello: the wanted text was spoken
	//
	//   reconcile     there is nothing to do
	//
	// Left by, in the order of evaluation:
	//   text-changed to Speaking: another text is wanted (starts an attempt)
	//       if not(spoken)
	//       spoken: the wanted text in the ConfigMap
	//
	// Entered by:
	//   heard from Speaking
	//   inferred from any state
}
