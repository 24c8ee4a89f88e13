// Command cluster runs a Kubernetes cluster with one node on this machine for tests, from packages only, and removes it
// completely. See docs/testing.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/detent-dev/detent/test/cluster/component"
	"github.com/detent-dev/detent/test/cluster/images"
	"github.com/detent-dev/detent/test/cluster/machine"
	"github.com/detent-dev/detent/test/cluster/node"
	"github.com/detent-dev/detent/test/cluster/registry"
	"github.com/detent-dev/detent/test/cluster/storage"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newCommand().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{Use: "cluster", Short: "A Kubernetes cluster of one node for tests", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(upCommand(), prepareCommand(), downCommand(), runCommand(), kubectlCommand(), imagesCommand(), checksumsCommand(), jarsCommand(), chaosCommand(), pictureCommand())
	root.AddCommand(becomeCommand(), registryCommand(), provisionerCommand())
	return root
}

func upCommand() *cobra.Command {
	o := node.Options{}
	cmd := &cobra.Command{
		Use: "up", Short: "Start the cluster, unless it runs; the last line is its kubeconfig", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Log = cmd.ErrOrStderr()
			kubeconfig, err := node.Up(cmd.Context(), o)
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), kubeconfig)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&o.Repository, "repository", ".", "root of the project's sources")
	return cmd
}

func prepareCommand() *cobra.Command {
	o := node.Options{}
	cmd := &cobra.Command{
		Use: "prepare", Short: "Install and build all that up needs, and start nothing", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Log = cmd.ErrOrStderr()
			return node.Prepare(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.Repository, "repository", ".", "root of the project's sources")
	return cmd
}

func kubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use: "kubectl argument...", Short: "Run the cluster's own kubectl on it", DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := node.Kubectl(cmd.Context(), args...)
			_, shown := cmd.OutOrStdout().Write(out)
			return errors.Join(err, shown)
		},
	}
}

func downCommand() *cobra.Command {
	return &cobra.Command{
		Use: "down", Short: "Remove the cluster and all its traces", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return node.Down(cmd.Context(), cmd.ErrOrStderr()) },
	}
}

func imagesCommand() *cobra.Command {
	var repository string
	cmd := &cobra.Command{
		Use: "images [name...]", Short: "Make container images, all or those named, and give them to a cluster that runs",
		RunE: func(cmd *cobra.Command, names []string) error {
			return makeImages(cmd.Context(), repository, cmd.ErrOrStderr(), names)
		},
	}
	cmd.Flags().StringVar(&repository, "repository", ".", "root of the project's sources")
	return cmd
}

func makeImages(ctx context.Context, repository string, log io.Writer, names []string) error {
	recipes, err := images.Choose(names)
	if err != nil {
		return err
	}
	store, err := images.DefaultStore()
	if err != nil {
		return err
	}
	kitchen := &images.Kitchen{Store: store, Repository: repository, Log: log}
	if err := kitchen.Make(ctx, recipes); err != nil {
		return err
	}
	if err := store.Prune(); err != nil {
		return err
	}
	if url, running := node.RegistryURL(); running {
		return registry.Push(ctx, url, store)
	}
	return nil
}

func checksumsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "checksums version", Short: "Print the checksums of the jars of a version of Kafka, as test/cluster/images/kafka has them", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := images.Checksums(cmd.Context(), cmd.ErrOrStderr(), args[0])
			fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		},
	}
}

func jarsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "jars directory", Short: "Unpack the jars of every version of Kafka into <directory>/<version>/lib, for brokers without containers", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := images.DefaultStore()
			if err != nil {
				return err
			}
			kitchen := &images.Kitchen{Store: store, Log: cmd.ErrOrStderr()}
			for _, version := range images.KafkaVersions() {
				if err := kitchen.UnpackKafka(cmd.Context(), version, args[0]); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func pictureCommand() *cobra.Command {
	return &cobra.Command{
		Use: "picture", Short: "Print everything on this machine that a cluster changes, for comparison", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			lines, err := machine.Picture(cmd.Context())
			fmt.Fprintln(cmd.OutOrStdout(), strings.Join(lines, "\n"))
			return err
		},
	}
}

// The other commands are internal: the cluster's components run them.

func becomeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "become", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return component.Set{Dir: args[0]}.Become(args[1]) },
	}
}

func registryCommand() *cobra.Command {
	var address, dir string
	cmd := &cobra.Command{
		Use: "registry", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return registry.Serve(cmd.Context(), address, images.Store{Dir: dir})
		},
	}
	cmd.Flags().StringVar(&address, "listen", "", "address")
	cmd.Flags().StringVar(&dir, "images", "", "directory of the store")
	return cmd
}

func provisionerCommand() *cobra.Command {
	var kubeconfig, name, dir string
	cmd := &cobra.Command{
		Use: "provisioner", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return storage.Run(cmd.Context(), kubeconfig, name, dir) },
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig")
	cmd.Flags().StringVar(&name, "name", "", "name in storage classes")
	cmd.Flags().StringVar(&dir, "dir", "", "directory of the volumes")
	return cmd
}
