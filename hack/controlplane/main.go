// Command controlplane is a tool for developers of this project: it builds the programs of the
// local control plane ahead of time, or runs one for experiments.
//
//	go run ./hack/controlplane          build what is missing and print the paths
//	go run ./hack/controlplane run      start one, run it until Ctrl-C and print its kubeconfigs
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/detent-dev/detent/internal/controlplane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	paths, err := controlplane.Binaries(ctx, controlplane.BinaryOptions{Log: os.Stderr})
	if err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		fmt.Printf("etcd                     %s\nkube-apiserver           %s\nkube-controller-manager  %s\nkubectl                  %s\n",
			paths.Etcd, paths.APIServer, paths.ControllerManager, paths.Kubectl)
		return nil
	case len(args) == 1 && args[0] == "run":
		return serve(ctx, paths)
	default:
		return fmt.Errorf("unknown arguments %q: give none, or run", args)
	}
}

func serve(ctx context.Context, paths controlplane.Paths) error {
	cp, err := controlplane.Start(ctx, controlplane.Options{Paths: paths, Log: os.Stderr})
	if err != nil {
		return err
	}
	files := cp.Kubeconfigs()
	fmt.Printf("API server   %s\nadmin        %s --kubeconfig %s\ndeveloper    %s\nbreak-glass  %s\nCtrl-C stops it and removes everything\n",
		cp.URL(), cp.Kubectl(), files.Admin, files.Developer, files.BreakGlass)
	select {
	case <-ctx.Done():
	case <-cp.Failed():
		err = cp.Err()
	}
	return errors.Join(err, cp.Stop())
}
