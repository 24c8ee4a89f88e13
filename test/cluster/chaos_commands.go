package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/detent-dev/detent/test/cluster/chaos"
)

// chaosCommand makes package chaos available to tests that run as another program.
func chaosCommand() *cobra.Command {
	root := &cobra.Command{Use: "chaos", Short: "Inject faults into the cluster; undo reverts all of them"}
	var container string
	add := func(use, short string, act func(b chaos.Box, ctx context.Context, what string) error) *cobra.Command {
		cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			return act(chaos.Box{Log: cmd.ErrOrStderr()}, cmd.Context(), args[0])
		}}
		root.AddCommand(cmd)
		return cmd
	}
	var within time.Duration
	var writes int
	kill := add("kill namespace/pod", "Kill its processes with SIGKILL", func(b chaos.Box, ctx context.Context, pod string) error {
		if err := b.Idle(ctx, rand.N(within+1)); err != nil {
			return err
		}
		return b.Kill(ctx, pod, container)
	})
	kill.Flags().DurationVar(&within, "within", 0, "at a random moment within this time, instead of at once")
	after := add("kill-after namespace/pod", "Kill its processes with SIGKILL after a number of its writes was served, before another is", func(b chaos.Box, ctx context.Context, pod string) error {
		return b.KillAfter(ctx, pod, container, writes, func() {})
	})
	after.Flags().IntVar(&writes, "writes", 1, "writes to the API server, leases and events not counted")
	for _, cmd := range []*cobra.Command{
		kill, after,
		add("pause namespace/pod", "Stop its processes with SIGSTOP", func(b chaos.Box, ctx context.Context, pod string) error { return b.Pause(ctx, pod, container) }),
		add("resume namespace/pod", "Continue its paused processes", func(b chaos.Box, ctx context.Context, pod string) error { return b.Resume(ctx, pod, container) }),
	} {
		cmd.Flags().StringVar(&container, "container", "", "one container instead of all")
	}
	add("stop component", "Kill a component of the cluster, such as kube-apiserver", chaos.Box.Stop)
	add("start component", "Start a component that was stopped", chaos.Box.Start)
	add("cut namespace/pod", "Drop all packets from and to it", chaos.Box.Cut)
	add("fill namespace/claim", "Fill its volume completely", chaos.Box.Fill)
	add("drain namespace/claim", "Revert fill", chaos.Box.Drain)
	root.AddCommand(
		&cobra.Command{Use: "mend", Short: "Revert every cut", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return chaos.Box{Log: cmd.ErrOrStderr()}.Mend(cmd.Context())
		}},
		&cobra.Command{Use: "undo", Short: "Revert all faults", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return chaos.Box{Log: cmd.ErrOrStderr()}.Undo(cmd.Context())
		}},
	)
	return root
}
