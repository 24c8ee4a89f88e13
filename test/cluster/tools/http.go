package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
)

func serveCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use: "serve", Short: "Answer every request with the name of this host", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), address) },
	}
	cmd.Flags().StringVar(&address, "listen", ":8000", "address")
	return cmd
}

func serve(ctx context.Context, address string) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, name) })}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case <-ctx.Done():
		return server.Close()
	case err := <-failed:
		return err
	}
}

func fetchCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "fetch url", Short: "Print the answer to a GET", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := fetch(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if file != "" {
				return os.WriteFile(file, body, 0o644)
			}
			_, err = cmd.OutOrStdout().Write(body)
			return err
		},
	}
	cmd.Flags().StringVar(&file, "into", "", "file that takes the answer instead")
	return cmd
}

func fetch(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", url, resp.Status, body)
	}
	return body, err
}
