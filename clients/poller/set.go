package poller

import "sync"

// Closer is what a Set holds.
type Closer interface{ Close() }

// Set holds one endpoint, or anything else that must be closed, per key, such as the UID
// of the resource it belongs to. It is safe for concurrent use. The zero value is empty
// and ready.
type Set[K comparable, E Closer] struct {
	mu      sync.Mutex
	members map[K]member[E]
	closing sync.WaitGroup
	closed  bool
}

type member[E Closer] struct {
	endpoint E
	made     string
}

// Get returns the endpoint of the key, making it when there is none, or when the one
// there was made from something else: from names what an endpoint is made of, such as
// its addresses and the generation of its certificates. The one that is replaced is
// closed without being waited for; what it knew is lost. After Close it fails with
// ErrClosed.
func (s *Set[K, E]) Get(key K, from string, build func() (E, error)) (E, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var none E
	if s.closed {
		return none, ErrClosed
	}
	m, ok := s.members[key]
	if ok && m.made == from {
		return m.endpoint, nil
	}
	endpoint, err := build()
	if err != nil {
		return none, err
	}
	if ok {
		s.closing.Go(m.endpoint.Close)
	}
	if s.members == nil {
		s.members = map[K]member[E]{}
	}
	s.members[key] = member[E]{endpoint: endpoint, made: from}
	return endpoint, nil
}

// DropAll closes the endpoints of the keys that gone says yes to, without waiting for them.
func (s *Set[K, E]) DropAll(gone func(K) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, m := range s.members {
		if gone(key) {
			delete(s.members, key)
			s.closing.Go(m.endpoint.Close)
		}
	}
}

// Close closes every endpoint and returns when all are.
func (s *Set[K, E]) Close() {
	s.mu.Lock()
	s.closed = true
	for key, m := range s.members {
		delete(s.members, key)
		s.closing.Go(m.endpoint.Close)
	}
	s.mu.Unlock()
	s.closing.Wait()
}
