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

	"github.com/detent-dev/detent/simulator/kafka"
)

// Server serves every broker of a cluster that answers on a loopback address of its
// own, and none for those that do not: their connections are cut and new ones refused.
// It is safe for concurrent use; the cluster belongs to it until Close.
type Server struct {
	tls *tls.Config

	mu        sync.Mutex
	cluster   *kafka.Cluster
	endpoints map[int32]*endpoint
	closed    bool
}

// endpoint is where one broker listens, or last listened.
type endpoint struct {
	addr string
	fake *kfake.Cluster // nil while it does not listen
}

// NewServer serves the cluster, over TLS when a configuration is given.
func NewServer(c *kafka.Cluster, serverTLS *tls.Config) (*Server, error) {
	s := &Server{tls: serverTLS, cluster: c, endpoints: map[int32]*endpoint{}}
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
		e := s.endpoints[n.ID]
		if e == nil {
			e = &endpoint{}
			s.endpoints[n.ID] = e
		}
		switch answers := s.cluster.Answers(n.ID); {
		case answers && e.fake == nil:
			if err := s.open(n.ID, e); err != nil {
				return err
			}
		case !answers && e.fake != nil:
			e.fake.Close()
			e.fake = nil
		}
		if n.Host == "" && e.addr != "" {
			n.Host, n.Port = split(e.addr)
		}
	}
	return nil
}

func (s *Server) open(id int32, e *endpoint) error {
	opts := []kfake.Opt{kfake.NumBrokers(1), kfake.ListenFn(func(network, _ string) (net.Listener, error) {
		l, err := listen(network, e.addr)
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
		return fmt.Errorf("listening for broker %d: %w", id, err)
	}
	fake.Control(func(request kmsg.Request) (kmsg.Response, error, bool) {
		fake.KeepControl()
		response, err := s.answer(id, request)
		return response, err, true
	})
	e.fake = fake
	return nil
}

// listen takes the address that the broker had, so that a client that knows it finds it
// again, or another when there was none or it was taken meanwhile.
func listen(network, addr string) (net.Listener, error) {
	var conf net.ListenConfig
	if addr != "" {
		if l, err := conf.Listen(context.Background(), network, addr); err == nil {
			return l, nil
		}
	}
	return conf.Listen(context.Background(), network, "127.0.0.1:0")
}

// answer returns neither a response nor an error when the client is to wait in vain.
func (s *Server) answer(id int32, request kmsg.Request) (kmsg.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, net.ErrClosed
	}
	response, err := Answer(s.cluster, id, request)
	if errors.Is(err, kafka.ErrNoAnswer) {
		return nil, s.follow()
	}
	return response, errors.Join(err, s.follow())
}

// Addr is the loopback address that the broker listens on, or last listened on; empty
// when it never did.
func (s *Server) Addr(id int32) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.endpoints[id]; e != nil {
		return e.addr
	}
	return ""
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

// DialContext dials an advertised address where it listens on loopback. An address that no
// listening broker advertises is refused, so that nothing ever leaves the machine.
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
		if e := s.endpoints[n.ID]; n.Host == host && n.Port == port && e != nil && e.fake != nil {
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
