package ceph_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// waitsFor reports whether the upgrade shows that it waits for the text.
func (r *rig) waitsFor(text string) func() bool {
	return func() bool {
		return slices.ContainsFunc(r.entry().WaitingFor, func(w lifecyclev1.WaitingFor) bool { return strings.Contains(w.Observed, text) })
	}
}

// TestKindShowsARefusedCommandOnce repeats a command that Ceph refuses without writing the status for each attempt.
func TestKindShowsARefusedCommandOnce(t *testing.T) {
	r := launched(t, "16")
	r.ceph.Do(func(c *simulated.Cluster) {
		c.Faults = append(c.Faults, simulated.Fault{Command: "osd set-group", Result: cephclient.Result{Code: 13, Stderr: []byte("Error EACCES: access denied\n")}})
	})
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.step()
	r.until("the words of Ceph", 10*time.Minute, func() bool {
		return strings.Contains(r.message(lifecycle.Ready), "access denied") || r.waitsFor("access denied")()
	})
	for range 15 {
		r.step()
	}
	writes, before := 0, r.get().ResourceVersion
	for range 60 {
		r.step()
		if now := r.get().ResourceVersion; now != before {
			writes, before = writes+1, now
		}
	}
	if writes > 0 {
		t.Errorf("%d writes of the status in a minute: %+v", writes, r.entry())
	}
	r.ceph.Do(func(c *simulated.Cluster) { c.Faults = nil })
	r.until("the end", 20*time.Minute, r.settled("18"))
	r.clean()
}

// TestKindShowsWhyAnImageIsNotDetected names the reason long before the detection ends.
func TestKindShowsWhyAnImageIsNotDetected(t *testing.T) {
	r := launched(t, "16")
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "nowhere/ceph:18" })
	r.step()
	r.until("the reason", 30*time.Second, r.waitsFor("nowhere/ceph:18 is being detected: the image cannot be pulled"))
	if state := r.entry().State; state != cephupgrade.DetectingVersion {
		t.Errorf("it is %s", state)
	}
}

// TestKindWaitsForAnOSDScaledToZero does not take the daemon that an administrator stopped for one that the upgrade replaces.
func TestKindWaitsForAnOSDScaledToZero(t *testing.T) {
	r := launched(t, "16")
	scale := func(replicas int32) {
		var all appsv1.DeploymentList
		r.must(r.client.List(context.Background(), &all, client.InNamespace(r.get().Namespace)))
		for i := range all.Items {
			if d, _ := render.DaemonOf(all.Items[i].Labels); d == (cephclient.Daemon{Type: cephclient.TypeOSD, ID: "2"}) {
				all.Items[i].Spec.Replicas = &replicas
				r.must(r.client.Update(context.Background(), &all.Items[i]))
			}
		}
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.step()
	r.until("the first OSD", 10*time.Minute, func() bool { return r.entry().Data["daemon"] == "osd.0" && len(r.world.Started) == 5 })
	scale(0)
	r.until("the wait", 2*time.Minute, r.waitsFor("OSD_DOWN"))
	before := len(r.world.Started)
	for range 30 {
		r.step()
	}
	if len(r.world.Started) > before {
		t.Errorf("started meanwhile: %v", r.world.Started[before:])
	}
	scale(1)
	r.until("the end", 15*time.Minute, r.settled("18"))
	r.clean()
}
