package ceph_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/connection"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	"github.com/detent-dev/detent/runtime/external"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// TestKindKeepsTheFlagOfAnOSDWhoseChangeItsCacheDoesNotShow ends the process after the Deployment of an OSD was written. The cache of its
// successor shows the Deployment from before, and the status is lost. The pod from before may end at any time.
func TestKindKeepsTheFlagOfAnOSDWhoseChangeItsCacheDoesNotShow(t *testing.T) {
	r := launched(t, "16")
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "0"}
	flagged := func() (yes bool) {
		r.ceph.Do(func(c *simulated.Cluster) {
			d, _ := c.Daemon(osd)
			yes = d.NoOut
		})
		return yes
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the change of the OSD", 10*time.Minute, func() bool {
		return r.entry().State == cephupgrade.ReplacingDaemon && r.entry().Data["daemon"] == osd.String()
	})
	before := &appsv1.DeploymentList{}
	r.must(r.client.List(context.Background(), before))
	r.world.Lag = time.Hour
	r.until("its Deployment", time.Minute, func() bool { return r.entry().State == cephupgrade.AwaitingDaemon })

	behind := true
	cached := interceptor.NewClient(r.client.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if into, ok := list.(*appsv1.DeploymentList); ok && behind {
				before.DeepCopyInto(into)
				return nil
			}
			return c.List(ctx, list, opts...)
		},
	})
	r.restart()
	r.reconciler = lifecycle.New(r.kind, lifecycle.Options{Client: cached, Live: r.client, Clock: r.clock})
	c := r.get()
	c.Status.Lifecycles = nil
	r.must(r.client.Status().Update(context.Background(), c))
	for range 60 {
		r.step()
		if !flagged() {
			t.Fatalf("the flag is gone in %s, while the pod from before runs", r.entry().State)
		}
	}

	behind, r.world.Lag = false, 0
	r.until("the upgrade", 10*time.Minute, r.rests("18"))
	r.clean()
}

// slow delays the commands that set a flag, as a system does that commands are sent to without waiting.
type slow struct {
	connection.System
	rig   *rig
	held  []func()
	ended time.Time
	hold  bool
}

// Write implements connection.System.
func (s *slow) Write(ctx context.Context, to connection.Endpoint, id machines.RequestID, c connection.Command) {
	if s.hold && c.Upgrade != nil && c.Upgrade.Verb == cephupgrade.SetNoOut {
		s.held = append(s.held, func() { s.System.Write(ctx, to, id, c) })
		return
	}
	s.System.Write(ctx, to, id, c)
}

// Answer implements connection.System.
func (s *slow) Answer(to connection.Endpoint, id machines.RequestID) external.Answer {
	if len(s.held) > 0 {
		return external.Answer{State: external.Pending}
	}
	return s.System.Answer(to, id)
}

// InFlight implements connection.System.
func (s *slow) InFlight(connection.Endpoint, string) external.InFlight {
	if len(s.held) > 0 {
		return external.InFlight{Until: s.rig.clock.Now().Add(time.Minute), Sent: true}
	}
	return external.InFlight{Ended: s.ended, Sent: !s.ended.IsZero()}
}

// release carries out what was delayed.
func (s *slow) release() {
	for _, do := range s.held {
		do()
	}
	s.held, s.hold, s.ended = nil, false, s.rig.clock.Now()
}

// TestKindRestsWithoutAFlagThatIsSetLate changes the spec while the command that sets a flag is under way: the upgrade stops once the flag is
// gone again.
func TestKindRestsWithoutAFlagThatIsSetLate(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(c *cephv1.Cluster)
		// lost means that the operator has ended before the command is carried out.
		lost  bool
		state string
	}{
		"the policy lists the OSDs no more": {state: cephupgrade.AwaitingAdmin, edit: func(c *cephv1.Cluster) {
			c.Spec.UpgradePolicy.Components = []cephv1.Component{"mon", "mgr"}
		}},
		"the spec is refused": {state: cephupgrade.Refusing, edit: func(c *cephv1.Cluster) { c.Spec.UpgradePolicy.Components = []cephv1.Component{"osd"} }},
		"the spec is refused, and the operator has ended": {
			state: cephupgrade.Refusing, lost: true, edit: func(c *cephv1.Cluster) { c.Spec.UpgradePolicy.Components = []cephv1.Component{"osd"} },
		},
		"the policy is removed": {state: cephupgrade.PolicyRemoved, lost: true, edit: func(c *cephv1.Cluster) { c.Spec.UpgradePolicy = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			delayed := &slow{rig: r, hold: true}
			r.wrap = func(s connection.System) connection.System {
				delayed.System = s
				return delayed
			}
			r.restart()
			r.edit(func(c *cephv1.Cluster) {
				c.Spec.UpgradePolicy = &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: "ceph:18"}, Components: []cephv1.Component{"mon", "mgr", "osd"}}
			})
			r.until("the flag", 10*time.Minute, func() bool { return len(delayed.held) > 0 })
			r.edit(tc.edit)
			if tc.lost {
				late := delayed.held
				delayed.held = nil
				r.until("the hold", time.Minute, func() bool { return r.entry().State == tc.state })
				delayed.held = late
			} else {
				for range 60 {
					r.step()
					if r.entry().State == tc.state {
						t.Fatalf("it stops in %s while the command is under way", tc.state)
					}
				}
			}
			delayed.release()
			r.until("the hold without the flag", 2*time.Minute, func() bool { return r.entry().State == tc.state && !r.noout() })
			for range 60 {
				r.step()
			}
			r.clean()
		})
	}
}

// noout reports whether an OSD has the flag, or the record of one is left.
func (r *rig) noout() (left bool) {
	r.ceph.Do(func(c *simulated.Cluster) {
		left = slices.ContainsFunc(c.Daemons, func(d simulated.Daemon) bool { return d.NoOut })
		for key := range c.Keys {
			left = left || strings.HasPrefix(key, "detent/noout")
		}
	})
	return left
}
