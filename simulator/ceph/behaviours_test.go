package ceph_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	client "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/simulator/ceph"
)

// world is a simulated cluster under test. Its clock moves only in Pass.
type world struct{ cluster *ceph.Cluster }

func (w world) Client() client.Client { return client.Client{Runner: w.cluster} }

func (w world) Start(_ context.Context, d client.Daemon, release string) error {
	err := w.cluster.Start(d, cephtest.Releases()[release], fmt.Sprintf("%s-%d", d, w.cluster.Now))
	if died, ok := errors.AsType[*ceph.Died](err); ok {
		return &cephtest.Died{Daemon: d, Words: died.Words}
	}
	return err
}

func (w world) Stop(_ context.Context, d client.Daemon) error {
	w.cluster.Stop(d)
	return nil
}

func (w world) Pass(ctx context.Context, what string, condition func(ctx context.Context) (bool, error)) error {
	const limit = 300_000
	for end := w.cluster.Now + limit; w.cluster.Now < end; w.cluster.Advance(w.cluster.Now + 500) {
		if ok, err := condition(ctx); err != nil || ok {
			return err
		}
	}
	return fmt.Errorf("%s: not within %d ms", what, limit)
}

func TestClusterBehaviours(t *testing.T) {
	for _, b := range cephtest.Behaviours() {
		t.Run(b.Name, func(t *testing.T) {
			b.Run(t.Context(), t, func(_ *testing.T, s cephtest.Setup) cephtest.World {
				return world{ceph.New(cephtest.Releases()[s.Release], cephtest.Daemons()...)}
			})
		})
	}
}
