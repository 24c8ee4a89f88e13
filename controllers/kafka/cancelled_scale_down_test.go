package kafka

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/kraftscaledown"
	"github.com/detent-dev/detent/machines/nodestorage"
)

func TestScaleDownIsCancelled(t *testing.T) {
	r, reconciler := settledOnThree(t)
	r.kafka.refuseToUnregister = &kafkaclient.Refused{Code: 31, Name: "CLUSTER_AUTHORIZATION_FAILED"}
	r.scale("broker", 2)
	r.leaving(reconciler, 10)
	if got := r.state(observation.LifecycleScaleDown); got != kraftscaledown.UnregistrationRefused {
		t.Fatalf("state %s, want UnregistrationRefused", got)
	}
	contains(t, r.lifecycle(observation.LifecycleScaleDown).WaitingFor[0].Observed, podLeaving+" is still registered: CLUSTER_AUTHORIZATION_FAILED")
	if r.exists(&corev1.Pod{}, podLeaving) || !slices.Contains(r.cluster().Status.NodeIDs, 2) {
		t.Error("the pod exists, or its id was released")
	}
	r.scale("broker", 3)
	r.leaving(reconciler, 10)
	if !r.exists(&corev1.Pod{}, podLeaving) {
		t.Error("the pod is not back")
	}
	if got := r.record(podLeaving); got.Stop || got.Leaving {
		t.Errorf("record %+v", got)
	}
	if diff := cmp.Diff([]int32{0, 1, 2}, r.ids("broker")); diff != "" {
		t.Errorf("ids of the pool (-want +got):\n%s", diff)
	}
}

// The release of a node marks its claim and is interrupted. If the node is desired again, the claim is its own again: its storage can be
// replaced, and it is found if only the claims are left.
func TestScaleDownIsCancelledDuringTheRelease(t *testing.T) {
	r, reconciler := settledOnThree(t)
	r.scale("broker", 2)
	r.deny = func(verb string, o client.Object) error {
		if verb == "delete" && o.GetName() == podLeaving {
			return apierrors.NewForbidden(corev1.Resource("configmaps"), podLeaving, errInjected)
		}
		return nil
	}
	released := func() bool {
		claim := &corev1.PersistentVolumeClaim{}
		r.must(r.get(claim, claimLeaving))
		return claim.Annotations[labels.Released] == "true"
	}
	r.leaving(reconciler, 14)
	if !released() || !r.exists(&corev1.ConfigMap{}, record.Name(podLeaving)) {
		t.Fatalf("the release was not interrupted: %+v", r.lifecycle(observation.LifecycleScaleDown))
	}
	r.deny = nil
	r.scale("broker", 3)
	r.kafka.unregistered = nil
	r.leaving(reconciler, 14)
	if !r.exists(&corev1.Pod{}, podLeaving) {
		t.Fatal("the pod is not back")
	}
	v := r.snapshot(false)
	if got := v.ClaimsOf(v.Node(2)); released() || len(got) != 1 || !v.Node(2).HasClaims {
		t.Errorf("the claim is still released: %v", got)
	}
}

// The release of a node deletes its claim and is interrupted. If the node is desired again, its new claim is no lost storage.
func TestScaleDownIsCancelledDuringTheReleaseOfADeletedClaim(t *testing.T) {
	r, reconciler := settledOnThree(t)
	pool := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(pool, "broker"))
	pool.Spec.Storage.Volumes[0].DeleteClaim = new(true)
	r.must(r.client.Update(t.Context(), pool))
	r.leaving(reconciler, 2)
	if got := r.record(podLeaving); got.Format != record.FormatDone || len(got.Volumes) != 1 {
		t.Fatalf("record %+v, want storage in use", got)
	}
	r.scale("broker", 2)
	r.deny = func(verb string, o client.Object) error {
		if verb == "delete" && o.GetName() == podLeaving {
			return apierrors.NewForbidden(corev1.Resource("configmaps"), podLeaving, errInjected)
		}
		return nil
	}
	r.leaving(reconciler, 16)
	if r.exists(&corev1.PersistentVolumeClaim{}, claimLeaving) || !r.exists(&corev1.ConfigMap{}, record.Name(podLeaving)) {
		t.Fatalf("the release was not interrupted: %+v", r.lifecycle(observation.LifecycleScaleDown))
	}
	if got := r.record(podLeaving); got.Format != record.FormatAllowed || len(got.Volumes) != 0 {
		t.Errorf("record %+v, want storage that is given up", got)
	}
	r.deny = nil
	r.scale("broker", 3)
	r.kafka.unregistered = nil
	r.leaving(reconciler, 14)
	if !r.exists(&corev1.Pod{}, podLeaving) {
		t.Fatal("the pod is not back")
	}
	if got := r.state(observation.LifecycleStorage); got != nodestorage.Intact {
		t.Errorf("state %s, want Intact: %+v", got, r.lifecycle(observation.LifecycleStorage))
	}
}
