// Command detent drives the lifecycles of Kubernetes resources: the manager, a local world to try it in, and the commands
// that show and foretell. As kubectl-detent it is a plugin of kubectl.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends what does not end at the first
	code := run(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// exit is an end with a code of its own. A nil error has been told already, or is none.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// run runs one command line and returns its exit code.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	root := newRoot(filepath.Base(args[0]))
	root.SetArgs(args[1:])
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	code := 1
	if coded := (*exit)(nil); errors.As(err, &coded) {
		code = coded.code
		if coded.err == nil {
			return code
		}
	}
	fmt.Fprintln(errs, "detent: "+strings.TrimSpace(err.Error()))
	return code
}

func newRoot(name string) *cobra.Command {
	root := &cobra.Command{
		Use: "detent", Short: "Lifecycles of Kubernetes resources as explicit state machines",
		Long:         "Detent drives the lifecycles of Kubernetes resources as explicit state machines whose state is kept in the\nresource's status.",
		SilenceUsage: true, SilenceErrors: true,
	}
	if name == "kubectl-detent" {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl detent"}
	}
	root.AddCommand(newDevCommand(), newGraphCommand(), newManagerCommand(), newPlanCommand(), newReplayCommand(), newVerifyCommand(), newVersionCommand())
	return root
}
