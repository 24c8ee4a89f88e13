// Command tools is the program of a test's workload pods: an HTTP server and client, numbered records into and out of Kafka and
// files, numbered objects into and out of S3, and ConfigMaps.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	root := &cobra.Command{Use: "tools", Short: "Workloads for tests", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(serveCommand(), fetchCommand(), produceCommand(), consumeCommand(), tallyCommand(), leaderCommand(), racksCommand(), registrationsCommand(), settingCommand(), streamCommand(), finishCommand(), fileCommand(), s3Command(), configMapsCommand())
	err := root.ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
