package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/detent-dev/detent/test/cluster/chaos"
)

// chaosCommand has the toolbox for tests that run as another program.
func chaosCommand() *cobra.Command {
	root := &cobra.Command{Use: "chaos", Short: "Do to the cluster what the world does to clusters; undo takes everything back"}
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
	kill := add("kill namespace/pod", "SIGKILL to its processes", func(b chaos.Box, ctx context.Context, pod string) error {
		if err := b.Idle(ctx, rand.N(within+1)); err != nil {
			return err
		}
		return b.Kill(ctx, pod, container)
	})
	kill.Flags().DurationVar(&within, "within", 0, "at a random moment within this time, instead of at once")
	after := add("kill-after namespace/pod", "SIGKILL to its processes when a number of its writes is served, and before another is", func(b chaos.Box, ctx context.Context, pod string) error {
		return b.KillAfter(ctx, pod, container, writes, func() {})
	})
	after.Flags().IntVar(&writes, "writes", 1, "writes to the API server, leases and events not counted")
	for _, cmd := range []*cobra.Command{
		kill, after,
		add("pause namespace/pod", "Stop its processes", func(b chaos.Box, ctx context.Context, pod string) error { return b.Pause(ctx, pod, container) }),
		add("resume namespace/pod", "Let them go on", func(b chaos.Box, ctx context.Context, pod string) error { return b.Resume(ctx, pod, container) }),
	} {
		cmd.Flags().StringVar(&container, "container", "", "one container instead of all")
	}
	add("stop component", "Kill a component of the cluster, such as kube-apiserver", chaos.Box.Stop)
	add("start component", "Start it again", chaos.Box.Start)
	add("cut namespace/pod", "Lose all that it sends and all that is sent to it", chaos.Box.Cut)
	add("fill namespace/claim", "Fill its volume to the last byte", chaos.Box.Fill)
	add("drain namespace/claim", "Take that back", chaos.Box.Drain)
	root.AddCommand(
		&cobra.Command{Use: "mend", Short: "Take every cut back", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return chaos.Box{Log: cmd.ErrOrStderr()}.Mend(cmd.Context())
		}},
		&cobra.Command{Use: "undo", Short: "Take everything back", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return chaos.Box{Log: cmd.ErrOrStderr()}.Undo(cmd.Context())
		}},
	)
	return root
}
