package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	client "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/simulator/kafka"
)

// Server serves every broker and every controller of a cluster that answers on its own loopback address. For nodes that do
// not answer it closes connections and refuses new ones. It is safe for concurrent use. It owns the cluster until Close.
type Server struct {
	tls *tls.Config

	mu        sync.Mutex
	cluster   *kafka.Cluster
	endpoints map[listener]*endpoint
	closed    bool
}

// listener identifies the listener of one role of one node.
type listener struct {
	id         int32
	controller bool
}

// endpoint is the current or last address of a listener.
type endpoint struct {
	addr string
	fake *kfake.Cluster // nil if it is not listening
}

// NewServer serves the cluster. serverTLS is optional; default: plain TCP. The caller must call Close.
func NewServer(c *kafka.Cluster, serverTLS *tls.Config) (*Server, error) {
	s := &Server{tls: serverTLS, cluster: c, endpoints: map[listener]*endpoint{}}
	return s, s.Do(func(*kafka.Cluster) {})
}

// Do runs fn on the cluster, then opens and closes listeners according to which nodes now answer. It is the only way to
// access the cluster while it is served. fn must not retain the cluster. Do fails if a listener cannot be opened, or after
// Close.
func (s *Server) Do(fn func(c *kafka.Cluster)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(s.cluster)
	return s.follow()
}

// follow opens and closes listeners according to the cluster. The caller must hold s.mu.
func (s *Server) follow() error {
	if s.closed {
		return errors.New("serving a kafka cluster: the server is closed")
	}
	for i := range s.cluster.Nodes {
		n := &s.cluster.Nodes[i]
		at := listener{id: n.ID}
		if err := s.listen(at, s.cluster.Answers(n.ID)); err != nil {
			return err
		}
		if e := s.endpoints[at]; n.Host == "" && e.addr != "" {
			n.Host, n.Port = split(e.addr)
		}
		if err := s.listen(listener{id: n.ID, controller: true}, s.cluster.ControllerAnswers(n.ID)); err != nil {
			return err
		}
	}
	return nil
}

// listen opens or closes one listener.
func (s *Server) listen(at listener, answers bool) error {
	e := s.endpoints[at]
	if e == nil {
		e = &endpoint{}
		s.endpoints[at] = e
	}
	switch {
	case answers && e.fake == nil:
		return s.open(at, e)
	case !answers && e.fake != nil:
		e.fake.Close()
		e.fake = nil
	}
	return nil
}

func (s *Server) open(at listener, e *endpoint) error {
	opts := []kfake.Opt{kfake.NumBrokers(1), kfake.ListenFn(func(network, _ string) (net.Listener, error) {
		l, err := reopen(network, e.addr)
		if err == nil {
			e.addr = l.Addr().String()
		}
		return l, err
	})}
	if s.tls != nil {
		opts = append(opts, kfake.TLS(s.tls))
	}
	fake, err := kfake.NewCluster(opts...)
	if err != nil {
		return fmt.Errorf("listening for node %d: %w", at.id, err)
	}
	fake.Control(func(request kmsg.Request) (kmsg.Response, error, bool) {
		fake.KeepControl()
		response, err := s.answer(at, request)
		return response, err, true
	})
	e.fake = fake
	return nil
}

// reopen listens on the previous address of the listener, so that a client that knows it reconnects. It listens on another
// address if there was none or it is in use.
func reopen(network, addr string) (net.Listener, error) {
	var conf net.ListenConfig
	if addr != "" {
		if l, err := conf.Listen(context.Background(), network, addr); err == nil {
			return l, nil
		}
	}
	return conf.Listen(context.Background(), network, "127.0.0.1:0")
}

// answer returns neither a response nor an error if the client must wait until its timeout.
func (s *Server) answer(at listener, request kmsg.Request) (kmsg.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, net.ErrClosed
	}
	ask := Answer
	if at.controller {
		ask = AnswerAtController
	}
	response, err := ask(s.cluster, at.id, request)
	if errors.Is(err, kafka.ErrNoAnswer) {
		return nil, s.follow()
	}
	return response, errors.Join(err, s.follow())
}

// Addr is the loopback address on which the broker listens, or last listened; empty if it never did.
func (s *Server) Addr(id int32) string { return s.addr(listener{id: id}) }

// ControllerAddr is the loopback address on which the node's controller listens, or last listened; empty if it never did.
func (s *Server) ControllerAddr(id int32) string { return s.addr(listener{id: id, controller: true}) }

func (s *Server) addr(at listener) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.endpoints[at]; e != nil {
		return e.addr
	}
	return ""
}

// Nodes returns the addresses of all nodes by id: the advertised address of the broker, and that of a controller that has
// a port.
func (s *Server) Nodes() map[int32]client.NodeAddress {
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes := map[int32]client.NodeAddress{}
	for _, n := range s.cluster.Nodes {
		var at client.NodeAddress
		if n.Broker && n.Host != "" {
			at.Broker = net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port)))
		}
		if n.Controller && n.ControllerPort != 0 {
			at.Controller = net.JoinHostPort(n.Host, strconv.Itoa(int(n.ControllerPort)))
		}
		nodes[n.ID] = at
	}
	return nodes
}

// Bootstrap returns the advertised addresses of the cluster's brokers.
func (s *Server) Bootstrap() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var addrs []string
	for _, n := range s.cluster.Nodes {
		if n.Broker && n.Host != "" {
			addrs = append(addrs, net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port))))
		}
	}
	return addrs
}

// DialContext dials the loopback address for an advertised address, or for that of a controller. It refuses an address
// without a listener, so that no connection leaves the machine.
func (s *Server) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	target := s.target(addr)
	if target == "" {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("no simulated broker listens for %s", addr)}
	}
	var d net.Dialer
	return d.DialContext(ctx, network, target)
}

func (s *Server) target(addr string) string {
	host, port := split(addr)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.cluster.Nodes {
		at := listener{id: n.ID, controller: n.Controller && n.ControllerPort == port}
		if e := s.endpoints[at]; n.Host == host && (n.Port == port || at.controller) && e != nil && e.fake != nil {
			return e.addr
		}
	}
	return ""
}

// Close closes every connection and every listener.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, e := range s.endpoints {
		if e.fake != nil {
			e.fake.Close()
			e.fake = nil
		}
	}
}

func split(addr string) (string, int32) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr, 0
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return host, 0
	}
	return host, int32(n)
}
