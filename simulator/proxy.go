package simulator

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Proxy lets external processes reach the simulated brokers by their names within a cluster: an HTTP proxy that only
// answers CONNECT. Serve it on loopback.
func (w *World) Proxy() http.Handler {
	return Proxy(func(ctx context.Context, host string) (net.Conn, error) { return w.DialContext(ctx, "tcp", host) })
}

// Proxy is an HTTP proxy to simulated servers that only answers CONNECT. dial connects to the server of a host and port.
type Proxy func(ctx context.Context, host string) (net.Conn, error)

// ServeHTTP connects the caller to a server until one side ends.
func (dial Proxy) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodConnect {
		http.Error(response, "this proxy connects to simulated servers and does nothing else", http.StatusMethodNotAllowed)
		return
	}
	server, err := dial(request.Context(), request.Host)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	caller, buffered, err := http.NewResponseController(response).Hijack()
	if err != nil {
		http.Error(response, err.Error(), http.StatusInternalServerError)
		return
	}
	defer caller.Close()
	_ = caller.SetDeadline(time.Time{}) // the server's timeouts are for requests; an error shows on the next use
	if _, err := io.WriteString(caller, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	splice(caller, buffered, server)
}

// splice copies in both directions until one side ends.
func splice(caller net.Conn, buffered io.Reader, server net.Conn) {
	var done sync.WaitGroup
	both := func() { _ = caller.Close(); _ = server.Close() } // closing both ends the other copy
	done.Go(func() {
		defer both()
		_, _ = io.Copy(server, buffered) // fails whenever the other side ended first
	})
	done.Go(func() {
		defer both()
		_, _ = io.Copy(caller, server)
	})
	done.Wait()
}
