package ceph_test

import (
	"context"
	"testing"
	"time"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/runtime/external"
)

// asynchronous answers a command a second after it was sent, as the pollers of a manager do. It counts the keys that are added.
type asynchronous struct {
	connection.System
	now     func() time.Time
	sent    time.Time
	imports int
}

// Write implements connection.System.
func (s *asynchronous) Write(ctx context.Context, to connection.Endpoint, id machines.RequestID, c connection.Command) {
	if s.sent = s.now(); c.ImportKeys != nil {
		s.imports++
	}
	s.System.Write(ctx, to, id, c)
}

// Answer implements connection.System.
func (s *asynchronous) Answer(to connection.Endpoint, id machines.RequestID) external.Answer {
	if !s.now().After(s.sent) {
		return external.Answer{RequestID: id, State: external.Pending}
	}
	return s.System.Answer(to, id)
}

// TestKindAddsManyDaemons adds so many gateways at once that their keys take longer than the Sender remembers the first one.
func TestKindAddsManyDaemons(t *testing.T) {
	const added = 15
	r := launched(t, "16")
	var system *asynchronous
	r.wrap = func(s connection.System) connection.System {
		system = &asynchronous{System: s, now: r.clock.Now}
		return system
	}
	r.restart()
	r.edit(func(c *cephv1.Cluster) { c.Spec.ObjectStores[0].Instances = 1 + added })
	r.until("the gateways", 3*time.Minute, func() bool {
		return len(r.record().Of(cephclient.TypeRGW)) == 1+added && r.settled("16")()
	})
	if system.imports != added {
		t.Errorf("keys were added %d times, want %d", system.imports, added)
	}
}
