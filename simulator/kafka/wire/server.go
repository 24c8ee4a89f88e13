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

// Server serves every broker and every controller of a cluster that answers on a loopback
// address of its own, and none for those that do not: their connections are cut and new ones refused.
// It is safe for concurrent use; the cluster belongs to it until Close.
type Server struct {
	tls *tls.Config

	mu        sync.Mutex
	cluster   *kafka.Cluster
	endpoints map[listener]*endpoint
	closed    bool
}

// listener is one role of one node.
type listener struct {
	id         int32
	controller bool
}

// endpoint is where one listener is, or last was.
type endpoint struct {
	addr string
	fake *kfake.Cluster // nil while it does not listen
}

// NewServer serves the cluster, over TLS when a configuration is given.
func NewServer(c *kafka.Cluster, serverTLS *tls.Config) (*Server, error) {
	s := &Server{tls: serverTLS, cluster: c, endpoints: map[listener]*endpoint{}}
	return s, s.Do(func(*kafka.Cluster) {})
}

// Do runs fn on the cluster, then opens and closes listeners as its brokers now answer
// or not. It is the only way to reach the cluster while it is served, and fn must not
// keep it.
func (s *Server) Do(fn func(c *kafka.Cluster)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(s.cluster)
	return s.follow()
}

// follow makes the listeners what the cluster says. s.mu is held.
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

// reopen takes the address that the listener had, so that a client that knows it finds it
// again, or another when there was none or it was taken meanwhile.
func reopen(network, addr string) (net.Listener, error) {
	var conf net.ListenConfig
	if addr != "" {
		if l, err := conf.Listen(context.Background(), network, addr); err == nil {
			return l, nil
		}
	}
	return conf.Listen(context.Background(), network, "127.0.0.1:0")
}

// answer returns neither a response nor an error when the client is to wait in vain.
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

// Addr is the loopback address that the broker listens on, or last listened on; empty
// when it never did.
func (s *Server) Addr(id int32) string { return s.addr(listener{id: id}) }

// ControllerAddr is the same of the node's controller.
func (s *Server) ControllerAddr(id int32) string { return s.addr(listener{id: id, controller: true}) }

func (s *Server) addr(at listener) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.endpoints[at]; e != nil {
		return e.addr
	}
	return ""
}

// Nodes are the addresses of every node by id: the advertised one of its broker, and that of a controller that has a port.
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

// Bootstrap lists the advertised addresses of the cluster's brokers.
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

// DialContext dials an advertised address, or that of a controller, where it listens on loopback. An address at
// which nothing listens is refused, so that nothing ever leaves the machine.
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

// Close cuts every connection and stops listening.
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
