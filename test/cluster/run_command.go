package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/detent-dev/detent/test/cluster/machine"
	"github.com/detent-dev/detent/test/cluster/node"
)

// workGrace is how long the command may take to exit after SIGTERM.
const workGrace = 10 * time.Second

// work is a command that needs a cluster.
type work struct {
	node.Options
	command []string
	images  []string
	keep    bool
	rounds  int
	out     io.Writer
}

func runCommand() *cobra.Command {
	w := &work{}
	cmd := &cobra.Command{
		Use: "run -- command [argument...]", Args: cobra.MinimumNArgs(1),
		Short: "Run a command with KUBECONFIG on a cluster that is started for it and removed after it",
		Long: "A cluster that runs already is used and left running, and so is that of E2E_KUBECONFIG. " +
			"A cluster that this command starts is removed in any case, and it is an error if any part of it is left on the machine.",
		RunE: func(cmd *cobra.Command, args []string) error {
			w.command, w.Log, w.out = args, cmd.ErrOrStderr(), cmd.OutOrStdout()
			return w.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&w.Repository, "repository", ".", "root of the project's sources")
	f.StringSliceVar(&w.images, "images", nil, "images that are made before")
	f.BoolVar(&w.keep, "keep", false, "do not remove the cluster")
	f.IntVar(&w.rounds, "rounds", 1, "clusters, one after the other, each with its own run of the command")
	return cmd
}

func (w *work) run(ctx context.Context) error {
	if existing := os.Getenv(node.ExistingEnv); existing != "" {
		return w.do(ctx, existing)
	}
	// Check first: without a cluster there is no use for images.
	if err := machine.Check(); err != nil {
		return err
	}
	if len(w.images) > 0 {
		if err := makeImages(ctx, w.Repository, w.Log, w.images); err != nil {
			return err
		}
	}
	running := node.Running(ctx)
	switch {
	case running && w.rounds > 1:
		return errors.New("playing rounds: a cluster runs on this machine; make cluster-down removes it")
	case running || w.keep:
		kubeconfig, err := node.Up(ctx, w.Options)
		if err != nil {
			return err
		}
		return w.do(ctx, kubeconfig)
	}
	return w.play(ctx)
}

// play plays all rounds and prints their results.
func (w *work) play(ctx context.Context) error {
	if err := node.Prepare(ctx, w.Options); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ROUND\tUP\tWORK\tDOWN\tLEFT BEHIND")
	var err error
	for i := 0; i < w.rounds && err == nil; i++ {
		var r node.Round
		r, err = node.Play(ctx, w.Options, w.do)
		left := "nothing"
		if len(r.Left) > 0 {
			left = fmt.Sprintf("%d things", len(r.Left))
			err = errors.Join(err, fmt.Errorf("removing the cluster: parts of it are left on the machine:\n%s", strings.Join(r.Left, "\n")))
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", i+1, tenths(r.Up), tenths(r.Work), tenths(r.Down), left)
	}
	return errors.Join(err, table.Flush())
}

func tenths(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

// do runs the command on a cluster. It sends SIGTERM to the command when ctx ends.
func (w *work) do(ctx context.Context, kubeconfig string) error {
	cmd := exec.CommandContext(ctx, w.command[0], w.command[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	cmd.Stdout, cmd.Stderr = w.out, w.Log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = workGrace
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %s on the cluster: %w", strings.Join(w.command, " "), err)
	}
	return nil
}
