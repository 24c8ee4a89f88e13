package integration

import (
	"context"
	"errors"
	"slices"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	cephcontroller "github.com/detent-dev/detent/controllers/ceph"
	"github.com/detent-dev/detent/controllers/ceph/observation"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulator "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/transitions"
)

var errCephSilent = errors.New("the ceph command ended with exit code 1: timed out")

// Hinder keeps the upgrade from progressing beyond the state of the visit.
func (w cephWorld) Hinder(v Visit, key client.ObjectKey) {
	held := map[string]cephupgrade.Verb{
		cephupgrade.DetectingVersion: cephupgrade.Detect, cephupgrade.RecordingHealth: cephupgrade.Record, cephupgrade.SelectingDaemon: cephupgrade.UnsetNoOut,
		cephupgrade.PreparingDaemon: cephupgrade.SetNoOut, cephupgrade.ReplacingDaemon: cephupgrade.Replace, cephupgrade.RequiringRelease: cephupgrade.Require,
	}
	s := w.of(key)
	s.hinder(func() {
		if effect, holds := held[v.State]; holds {
			s.held[effect] = true
		}
	})
	switch v.State {
	case cephupgrade.Preflight, machines.Inferring:
		s.hinder(func() { s.blind = true })
	case cephupgrade.PolicyRemoved:
		w.beginsByPolicy(key)
	case cephupgrade.AwaitingHealth:
		code := cephclient.Check{Code: "TEST_BOOM", Severity: cephclient.HealthErr, Summary: "boom"}
		s.disturb(func(c *simulator.Cluster) { c.Raise(code) }, func(c *simulator.Cluster) { c.Clear(code.Code) })
	case cephupgrade.AwaitingOkToStop:
		busy := simulator.Fault{Command: "osd ok-to-stop", Result: cephclient.Result{Code: 16, Stderr: []byte("Error EBUSY: not now\n")}}
		s.disturb(func(c *simulator.Cluster) { c.Faults = []simulator.Fault{busy} }, func(c *simulator.Cluster) { c.Faults = nil })
	case cephupgrade.AwaitingDaemon:
		s.hinder(func() { s.broken = cephNew })
	case cephupgrade.DeadOSD: // one that is not of this cluster's spec, on the older release
		other := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "9"}
		s.disturb(func(c *simulator.Cluster) {
			c.Add(other)
			Expect(c.Start(other, cephtest.Releases()["16"], "elsewhere")).To(Succeed())
		}, func(c *simulator.Cluster) {
			c.Daemons = slices.DeleteFunc(c.Daemons, func(d simulator.Daemon) bool { return d.Name == other })
		})
	}
}

func (s *cephSite) hinder(how func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how()
}

// disturb changes Ceph until the cluster is released.
func (s *cephSite) disturb(begin, end func(*simulator.Cluster)) {
	s.present().Do(begin)
	s.hinder(func() { s.undo = append(s.undo, func() { s.present().Do(end) }) })
}

// monitorsFirst is a policy that changes the monitors alone.
func monitorsFirst() *cephv1.UpgradePolicy {
	return &cephv1.UpgradePolicy{CephVersion: cephv1.CephVersion{Image: cephNew}, Components: []cephv1.Component{"mon"}}
}

// beginsByPolicy changes the monitors of a cluster, and waits until its others await a decision.
func (w cephWorld) beginsByPolicy(key client.ObjectKey) {
	ctx, c := context.Background(), &cephv1.Cluster{}
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := admin.Get(ctx, key, c); err != nil {
			return err
		}
		c.Spec.UpgradePolicy = monitorsFirst()
		return admin.Update(ctx, c)
	})).To(Succeed())
	Eventually(func(g Gomega) {
		g.Expect(admin.Get(ctx, key, c)).To(Succeed())
		g.Expect(entryOf(c, observation.LifecycleUpgrade).State).To(Equal(cephupgrade.AwaitingAdmin))
	}).WithPolling(readInterval).Should(Succeed())
}

// Change requests what leads to the state of the visit.
func (cephWorld) Change(v Visit, object lifecycle.Object) {
	spec := &cephIn(object).Spec
	switch v.State {
	case cephupgrade.Settled, machines.Inferring:
	case cephupgrade.Refusing:
		spec.CephVersion.Image = cephOldest
	case cephupgrade.PolicyRemoved:
		spec.UpgradePolicy = nil
	case cephupgrade.AwaitingAdmin:
		spec.UpgradePolicy = monitorsFirst()
	default:
		spec.CephVersion.Image = cephNew
	}
}

// steer hinders what the operator observes and executes, as the visits require.
func (w cephWorld) steer(kind *cephcontroller.Kind) {
	observe, execute := kind.Observe, kind.Execute
	kind.Observe = func(ctx context.Context, c *cephv1.Cluster, r lifecycle.ObserveRequest) (*observation.Snapshot, error) {
		v, err := observe(ctx, c, r)
		if s := w.of(client.ObjectKeyFromObject(c)); err == nil && s != nil {
			s.hinder(func() {
				if s.blind && v.Cluster.Asked() {
					v.Cluster = transitions.Unreadable[cephupgrade.Cluster](errCephSilent)
				}
			})
		}
		return v, err
	}
	kind.Execute = func(ctx context.Context, t lifecycle.EffectRequest[*cephv1.Cluster, *observation.Snapshot, cephupgrade.Effect]) error {
		waits := false
		if s := w.of(client.ObjectKeyFromObject(t.Object)); s != nil {
			s.hinder(func() { waits = s.held[t.Effect.Verb] })
		}
		if waits {
			return lifecycle.ErrWait
		}
		return execute(ctx, t)
	}
}

// Release removes what hinders, and requests what can be followed.
func (w cephWorld) Release(object lifecycle.Object) {
	s := w.of(client.ObjectKeyFromObject(object))
	var undo []func()
	s.hinder(func() {
		undo, s.undo = s.undo, nil
		s.held, s.blind, s.broken = map[cephupgrade.Verb]bool{}, false, ""
	})
	for _, f := range undo {
		f()
	}
	spec := &cephIn(object).Spec
	switch {
	case spec.CephVersion.Image == cephOldest:
		spec.CephVersion.Image = cephOld
	case spec.CephVersion.Image == cephOld && (spec.UpgradePolicy != nil || stateOf(object.GetName()) == "policyremoved"):
		spec.CephVersion.Image, spec.UpgradePolicy = cephNew, nil
	}
}
