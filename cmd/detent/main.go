// Command detent runs the operator: the manager, a local development environment, and commands that show the state of objects
// and predict what the operator will do. Installed as kubectl-detent it is a plugin of kubectl.
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

	"github.com/detent-dev/detent/internal/registration"
	"github.com/detent-dev/detent/kinds"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // restores the default handling, so that a second signal ends the process at once
	code := run(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// exit is an error with an exit code. If err is nil, run prints nothing: there is no error, or it has already been printed.
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

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	root := newRoot(filepath.Base(args[0]), kinds.All())
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

func newRoot(name string, kinds []registration.Kind) *cobra.Command {
	root := &cobra.Command{
		Use: "detent", Short: "Lifecycles of Kubernetes resources as explicit state machines",
		Long:         "Detent drives the lifecycles of Kubernetes resources as explicit state machines whose state is kept in the\nresource's status.",
		SilenceUsage: true, SilenceErrors: true,
	}
	if name == "kubectl-detent" {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl detent"}
	}
	root.AddCommand(newDevCommand(kinds), newGraphCommand(kinds), newManagerCommand(kinds), newPlanCommand(kinds), newReplayCommand(kinds), newVerifyCommand(kinds), newVersionCommand())
	return root
}
