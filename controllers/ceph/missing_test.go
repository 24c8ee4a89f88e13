package ceph_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cephclient "github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
	"github.com/detent-dev/detent/machines/cephupgrade"
	lifecycle "github.com/detent-dev/detent/runtime"
	simulated "github.com/detent-dev/detent/simulator/ceph"
)

// TestKindReadsTheMapsAgainWhileADaemonIsMissing: at rest no event shows that Ceph has noticed a daemon, and the resync is far away.
func TestKindReadsTheMapsAgainWhileADaemonIsMissing(t *testing.T) {
	osd := cephclient.Daemon{Type: cephclient.TypeOSD, ID: "1"}
	for name, row := range map[string]struct {
		lose func(*rig)
		want bool
	}{
		"every daemon has its role": {lose: func(*rig) {}, want: false},
		"Ceph misses a daemon": {want: true, lose: func(r *rig) {
			r.ceph.Do(func(c *simulated.Cluster) { c.Stop(osd) })
		}},
		"a pod is not ready": {want: true, lose: func(r *rig) { r.change(osd, func(p *corev1.Pod) { p.Status.Conditions = nil }) }},
		"a process is newer than the maps": {want: true, lose: func(r *rig) {
			r.change(osd, func(p *corev1.Pod) {
				p.Status.ContainerStatuses[0].State.Running.StartedAt.Time = r.clock.Now().Add(time.Minute)
			})
		}},
		"a daemon is missing, and Ceph does not answer": {lose: func(r *rig) {
			r.ceph.Do(func(c *simulated.Cluster) {
				c.Stop(osd)
				c.Faults = []simulated.Fault{{Command: "", Result: cephclient.Result{Code: 1, Stderr: []byte("timed out")}}}
			})
		}, want: false},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, "16")
			r.until("rest", time.Minute, r.settled("16"))
			row.lose(r)
			r.again = nil
			r.step()
			if got := len(r.again) > 0; got != row.want {
				t.Errorf("read again after %v, want %t", r.again, row.want)
			}
		})
	}
}

// change changes the status of the pod of a daemon.
func (r *rig) change(d cephclient.Daemon, how func(*corev1.Pod)) {
	r.t.Helper()
	var all corev1.PodList
	r.must(r.client.List(context.Background(), &all, client.InNamespace(r.key().Namespace)))
	for i := range all.Items {
		if of, _ := render.DaemonOf(all.Items[i].Labels); of == d {
			how(&all.Items[i])
			r.must(r.client.Status().Update(context.Background(), &all.Items[i]))
			return
		}
	}
	r.t.Fatalf("%s has no pod", d)
}

// TestKindReadsSoonerWhileADaemonStarts: each answer is a process in a pod, so that a wait that lasts is not read as often.
func TestKindReadsSoonerWhileADaemonStarts(t *testing.T) {
	r := launched(t, "16")
	r.step()
	if r.renew != 0 {
		t.Errorf("at rest answers are read again after %s", r.renew)
	}
	r.world.Broken = func(d cephclient.Daemon, image string) bool {
		return strings.HasPrefix(image, "ceph:18") && d.Type != ""
	}
	r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:18" })
	r.until("the first daemon", 5*time.Minute, func() bool { return r.entry().State == cephupgrade.AwaitingDaemon })
	r.step()
	if want := 700 * time.Millisecond; r.renew != want {
		t.Errorf("answers are read again after %s, want %s", r.renew, want)
	}
	for range 150 {
		r.step()
	}
	if r.entry().State != cephupgrade.AwaitingDaemon || r.renew != 0 {
		t.Errorf("after minutes in %s answers are read again after %s", r.entry().State, r.renew)
	}
}

// TestKindCorrectsTheServiceOfAMonitor repairs what was edited, takes no copy for the Service, and names one with another address: that cannot
// be changed.
func TestKindCorrectsTheServiceOfAMonitor(t *testing.T) {
	r := launched(t, "16")
	ctx := t.Context()
	service := func() *corev1.Service {
		s := &corev1.Service{}
		if err := r.client.Get(ctx, client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-mon-b"}, s); err != nil {
			return nil
		}
		return s
	}
	before := service()
	if !before.Spec.PublishNotReadyAddresses {
		t.Error("the Service leads to the pod only once that is ready")
	}
	again := func(name, address string) {
		t.Helper()
		s := before.DeepCopy()
		s.Name, s.ResourceVersion, s.UID, s.Spec.ClusterIP = name, "", "", address
		r.must(r.client.Create(ctx, s))
	}
	again("zzz", "10.96.0.99") // a copy, read last
	edited := service()
	edited.Spec.Ports, edited.Spec.Selector = edited.Spec.Ports[:1], map[string]string{"app": "another"}
	edited.Spec.PublishNotReadyAddresses = false
	r.must(r.client.Update(ctx, edited))
	r.until("the repair", time.Minute, func() bool { return cmp.Equal(before.Spec, service().Spec) })

	r.must(r.client.Delete(ctx, service()))
	again("rook-ceph-mon-b", "10.96.0.98")
	want := "reading the Service rook-ceph-mon-b of mon.b: it has the address 10.96.0.98, and the cluster knows " + before.Spec.ClusterIP + ": delete the Service: it is made again with " + before.Spec.ClusterIP
	r.until("the reason", time.Minute, func() bool { return strings.Contains(r.message(lifecycle.Ready), want) })
	r.must(r.client.Delete(ctx, service()))
	r.until("the Service", time.Minute, func() bool { s := service(); return s != nil && cmp.Equal(before.Spec, s.Spec) && r.settled("16")() })
}

// TestKindOwnsDeploymentsWithoutAnOwner owns them again, so that they are deleted with the Cluster, but not while it is deleted without them:
// they would be deleted after it.
func TestKindOwnsDeploymentsWithoutAnOwner(t *testing.T) {
	r := launched(t, "16")
	ctx := t.Context()
	key := client.ObjectKey{Namespace: "rook-ceph", Name: "rook-ceph-osd-1"}
	orphan := func() {
		t.Helper()
		d := &appsv1.Deployment{}
		r.must(r.client.Get(ctx, key, d))
		d.OwnerReferences = nil
		r.must(r.client.Update(ctx, d))
	}
	owned := func() bool {
		d := &appsv1.Deployment{}
		r.must(r.client.Get(ctx, key, d))
		return metav1.IsControlledBy(d, r.get())
	}
	orphan()
	r.until("the owner", time.Minute, owned)
	if started := r.started(); len(started) > 0 {
		t.Errorf("started: %v", started)
	}
	r.edit(func(c *cephv1.Cluster) { c.Finalizers = []string{metav1.FinalizerOrphanDependents} })
	r.must(r.client.Delete(ctx, r.get()))
	orphan()
	for range 10 {
		r.step()
		if owned() {
			t.Fatal("it is owned by a Cluster that is deleted without it")
		}
	}
}
