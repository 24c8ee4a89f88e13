package simulator

import (
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Proxy lets external processes reach the simulated brokers by their names within a cluster: an HTTP proxy that only
// answers CONNECT. Serve it on loopback.
func (w *World) Proxy() http.Handler { return http.HandlerFunc(w.connect) }

func (w *World) connect(response http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodConnect {
		http.Error(response, "this proxy connects to simulated brokers and does nothing else", http.StatusMethodNotAllowed)
		return
	}
	broker, err := w.DialContext(request.Context(), "tcp", request.Host)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadGateway)
		return
	}
	defer broker.Close()
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
	splice(caller, buffered, broker)
}

// splice copies in both directions until one side ends.
func splice(caller net.Conn, buffered io.Reader, broker net.Conn) {
	var done sync.WaitGroup
	both := func() { _ = caller.Close(); _ = broker.Close() } // closing both ends the other copy
	done.Go(func() {
		defer both()
		_, _ = io.Copy(broker, buffered) // fails whenever the other side ended first
	})
	done.Go(func() {
		defer both()
		_, _ = io.Copy(caller, broker)
	})
	done.Wait()
}
