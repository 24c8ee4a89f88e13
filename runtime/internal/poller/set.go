package poller

import "sync"

// Closer is the constraint of what a Set holds.
type Closer interface{ Close() }

// Set holds one endpoint, or anything else that must be closed, per key, such as the UID of
// the resource it belongs to. It is safe for concurrent use. The zero value is an empty
// set.
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

// Get returns the endpoint of the key. It builds one if there is none, or if the existing
// one was built from something else: from identifies the inputs of an endpoint, such as its
// addresses and the generation of its certificates. build receives the endpoint that it
// replaces, or the zero value. That one is closed in the background, and its answers are
// lost. Get fails with ErrClosed after Close, or with the error of build, which keeps the
// existing endpoint.
func (s *Set[K, E]) Get(key K, from string, build func(previous E) (E, error)) (E, error) {
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
	endpoint, err := build(m.endpoint)
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

// Find returns the endpoint of the key, whatever it was built from.
func (s *Set[K, E]) Find(key K) (endpoint E, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, found := s.members[key]
	return m.endpoint, found
}

// FindAll returns the endpoints of the keys for which matches returns true, in no order.
func (s *Set[K, E]) FindAll(matches func(K) bool) (endpoints []E) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, m := range s.members {
		if matches(key) {
			endpoints = append(endpoints, m.endpoint)
		}
	}
	return endpoints
}

// DropAll removes the endpoints of the keys for which gone returns true, and closes them in
// the background.
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

// Close closes every endpoint and returns once all are closed, including those that Get and
// DropAll closed in the background.
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
