package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	"github.com/detent-dev/detent/machines/nodestorage"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// disks are the volumes of the claims of a cluster at rest. Claims have the finalizer that keeps them while a pod uses them.
type disks struct {
	*rig
	reconciler reconcile.Reconciler
	// formatted are the claims whose volumes are not empty.
	formatted map[types.UID]bool
	// answer changes what Kafka reports in a pass. Optional.
	answer func()
}

// withDisks is a cluster at rest with its volumes.
func withDisks(t *testing.T) *disks {
	t.Helper()
	r, reconciler := onVersion(t, "4.1.1", 27)
	r.clock.Step(time.Minute)
	d := &disks{rig: r, reconciler: reconciler, formatted: map[types.UID]bool{}}
	r.webhook = func(o client.Object) {
		if claim, is := o.(*corev1.PersistentVolumeClaim); is && claim.UID == "" {
			claim.Finalizers = []string{protection}
		}
	}
	for _, claim := range d.claims() {
		d.formatted[claim.UID] = true
		claim.Finalizers = []string{protection}
		r.must(r.client.Update(t.Context(), &claim))
	}
	d.pass()
	r.written()
	return d
}

func (d *disks) claims() []corev1.PersistentVolumeClaim {
	d.t.Helper()
	var list corev1.PersistentVolumeClaimList
	d.must(d.client.List(d.t.Context(), &list, client.InNamespace(d.key.Namespace)))
	return list.Items
}

// uidsOf are the UIDs of all claims and pods by name.
func (d *disks) uidsOf() map[string]types.UID {
	d.t.Helper()
	out := d.uids()
	for _, claim := range d.claims() {
		out[claim.Name] = claim.UID
	}
	return out
}

// replace requests the replacement of a pod, or takes the request back.
func (d *disks) replace(pod, value string) {
	d.t.Helper()
	d.annotate(pod, labels.DeletePodAndPVC, value)
	d.written()
}

// pass lets the operator, the controller of pod sets, the controller that releases claims and the kubelets run once.
func (d *disks) pass() {
	d.t.Helper()
	d.kafkaServes()
	d.partition(d.inSync()...)
	if d.answer != nil {
		d.answer()
	}
	for _, step := range []func() error{func() error { return pass(d.t, d.reconciler, d.key) }, d.podSets} {
		if err := step(); err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) && !errors.Is(err, errInjected) {
			d.t.Fatal(err)
		}
	}
	d.release()
	d.start()
	d.clock.Step(10 * time.Second)
}

// inSync are the brokers whose pods are ready: the others have stopped in a controlled way.
func (d *disks) inSync() (ids []int32) {
	for id := range int32(3) {
		p := &corev1.Pod{}
		if d.get(p, fmt.Sprintf("my-cluster-broker-%d", id)) == nil && len(p.Status.ContainerStatuses) > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// release removes the finalizer of claims that are being deleted and that no pod uses.
func (d *disks) release() {
	d.t.Helper()
	for _, claim := range d.claims() {
		used := slices.ContainsFunc(d.pods(), func(p corev1.Pod) bool { return slices.Contains(claimsOf(&p), claim.Name) })
		if claim.DeletionTimestamp != nil && !used {
			claim.Finalizers = nil
			d.must(d.client.Update(d.t.Context(), &claim))
		}
	}
}

func claimsOf(pod *corev1.Pod) (names []string) {
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		}
	}
	return names
}

// start starts the pods whose claims exist, and reports those of a pod that may not format an empty volume.
func (d *disks) start() {
	d.t.Helper()
	have := map[string]corev1.PersistentVolumeClaim{}
	for _, claim := range d.claims() {
		have[claim.Name] = claim
	}
	for _, pod := range d.pods() {
		if len(pod.Status.ContainerStatuses) > 0 {
			continue
		}
		ready := true
		for _, name := range claimsOf(&pod) {
			claim, exists := have[name]
			switch {
			case exists && claim.DeletionTimestamp != nil:
				d.t.Errorf("pod %s was created while %s is being deleted", pod.Name, name)
			case exists && !d.formatted[claim.UID] && d.record(pod.Name).Format != record.FormatAllowed:
				d.t.Errorf("pod %s finds %s empty and may not format it", pod.Name, name)
			case exists:
				d.formatted[claim.UID] = true
			}
			ready = ready && exists
		}
		if ready {
			d.starts(pod.Name)
		}
	}
}

// until runs passes until the condition holds.
func (d *disks) until(what string, done func() bool) {
	d.t.Helper()
	for range 60 {
		if done() {
			return
		}
		d.pass()
	}
	d.t.Fatalf("never: %s; storage %+v, record %+v", what, d.lifecycle(observation.LifecycleStorage), d.record(podBroker))
}

// complete reports whether no replacement is left to do.
func (d *disks) complete(pod string) func() bool {
	return func() bool {
		r := d.record(pod)
		return d.state(observation.LifecycleStorage) == nodestorage.Intact && len(r.Replaced) == 0 && r.Format == record.FormatDone
	}
}

// changed are the names of the objects that are others than before.
func (d *disks) changed(before map[string]types.UID) (names []string) {
	for name, uid := range d.uidsOf() {
		if before[name] != uid {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// storageWrites are the writes to the record, the claims and the pod of broker 0.
func (d *disks) storageWrites() []string {
	return slices.DeleteFunc(d.written(), func(w string) bool { return !ofBroker(w) })
}

func ofBroker(write string) bool {
	return strings.HasSuffix(write, record.Name(podBroker)) || strings.HasSuffix(write, " "+claimBroker) || strings.HasSuffix(write, "Pod "+podBroker)
}

func (d *disks) waiting() string {
	return fmt.Sprint(d.lifecycle(observation.LifecycleStorage).WaitingFor)
}
