package ceph

import (
	"context"
	"sync"

	client "github.com/detent-dev/detent/clients/ceph"
)

// Shared is a cluster that several goroutines use.
type Shared struct {
	mu      sync.Mutex
	cluster *Cluster
}

// NewShared returns the cluster for several goroutines. It must not be used directly any more.
func NewShared(c *Cluster) *Shared { return &Shared{cluster: c} }

// Run answers one command. It implements clients/ceph.Runner.
func (s *Shared) Run(ctx context.Context, command client.Command) (client.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cluster.Run(ctx, command)
}

// Do calls do with the cluster, which must not be kept.
func (s *Shared) Do(do func(*Cluster)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(s.cluster)
}
