// Command exporter is a test double of danielqsj/kafka_exporter, whose module cannot be built from packages. It accepts the
// flags that the operator renders, connects to the brokers, and exports some of the metrics under their upstream names.
//
// Like upstream it exits with an error when no broker answers at its start, and listens only once one has. It differs where a
// test needs current values: while no broker answers, /metrics and /healthz answer 503, where upstream exports the last values.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newCommand(&options{}).ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// options are the flags, with upstream's names and defaults. Any other flag is an error, as it is upstream.
type options struct {
	servers                                              []string
	listen                                               string
	topicFilter, topicExclude, groupFilter, groupExclude string
}

func newCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "kafka-exporter", Short: "Export the state of a Kafka cluster to Prometheus", Args: cobra.NoArgs,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o, cmd.ErrOrStderr()) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.servers, "kafka.server", []string{"kafka:9092"}, "host:port of a broker; may be repeated")
	f.StringVar(&o.listen, "web.listen-address", ":9308", "address of /metrics and /healthz")
	f.StringVar(&o.topicFilter, "topic.filter", ".*", "regular expression of the topics to export")
	f.StringVar(&o.topicExclude, "topic.exclude", "^$", "regular expression of the topics to leave out")
	f.StringVar(&o.groupFilter, "group.filter", ".*", "regular expression of the consumer groups to export")
	f.StringVar(&o.groupExclude, "group.exclude", "^$", "regular expression of the consumer groups to leave out")
	return cmd
}

// run connects, listens and serves until ctx ends. It returns an error when no broker answers at the start.
func run(ctx context.Context, o *options, out io.Writer) error {
	log := slog.New(slog.NewTextHandler(out, nil))
	e, err := newExporter(o, log)
	if err != nil {
		return err
	}
	defer e.close()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listening for scrapes: %w", err)
	}
	log.Info("listening", "address", listener.Addr().String())
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: e.handler()}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case <-ctx.Done():
		return server.Close()
	case err := <-failed:
		return fmt.Errorf("serving scrapes: %w", err)
	}
}
