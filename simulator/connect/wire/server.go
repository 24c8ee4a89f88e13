package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/detent-dev/detent/simulator/connect"
)

// maxBody is the size from which a request is refused, as Connect's server does not.
const maxBody = 64 << 20

// Server serves every worker of a cluster. A worker whose process has ended refuses connections. It is safe for concurrent use and
// owns the cluster until Close.
type Server struct {
	mu      sync.Mutex
	cluster *connect.Cluster
	workers []*worker
	// closing is closed by Close, so that requests without an answer end.
	closing chan struct{}
}

// worker is the listener of one worker.
type worker struct {
	addr   string
	server *httptest.Server // nil while it does not listen
}

// NewServer serves the cluster. The caller must call Close.
func NewServer(c *connect.Cluster) (*Server, error) {
	s := &Server{cluster: c, closing: make(chan struct{})}
	for range c.Workers {
		s.workers = append(s.workers, &worker{})
	}
	return s, s.Do(func(*connect.Cluster) {})
}

// Do runs fn on the cluster, then opens and closes listeners according to which workers have a process. It is the only way to access
// the cluster while it is served; fn must not retain it.
func (s *Server) Do(fn func(c *connect.Cluster)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(s.cluster)
	for i, w := range s.workers {
		switch listens := s.cluster.Workers[i].Process != connect.Dead; {
		case listens && w.server == nil:
			if err := s.open(i, w); err != nil {
				return err
			}
		case !listens && w.server != nil:
			w.server.CloseClientConnections()
			_ = w.server.Listener.Close() // it is not used again
			w.server = nil
		}
	}
	return nil
}

func (s *Server) open(i int, w *worker) error {
	address := w.addr
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return fmt.Errorf("listening for worker %d: %w", i, err)
	}
	w.addr = listener.Addr().String()
	w.server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { s.serve(i, rw, r) })}}
	w.server.Start()
	return nil
}

// serve answers one request. A connection that ends without an answer is aborted.
func (s *Server) serve(i int, rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBody))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	answer := s.cluster.Handle(i, connect.Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Body: string(body)})
	s.mu.Unlock()
	switch answer.Outcome {
	case connect.Answered:
	case connect.Closed:
		panic(http.ErrAbortHandler)
	case connect.Silent:
		select {
		case <-r.Context().Done():
		case <-s.closing:
		}
		panic(http.ErrAbortHandler)
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(answer.Code)
	if _, err := io.WriteString(rw, answer.Body); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		panic(http.ErrAbortHandler)
	}
}

// Addr is the loopback address on which the worker listens, or last listened.
func (s *Server) Addr(worker int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.workers[worker].addr
}

// Close closes every connection and every listener.
func (s *Server) Close() {
	close(s.closing)
	s.mu.Lock()
	servers := make([]*httptest.Server, 0, len(s.workers))
	for _, w := range s.workers {
		if w.server != nil {
			servers = append(servers, w.server)
		}
	}
	s.mu.Unlock()
	for _, server := range servers {
		server.CloseClientConnections()
		server.Close()
	}
}
