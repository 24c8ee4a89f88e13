package podset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	"github.com/detent-dev/detent/states"
)

// withClaim is a set with one pod that uses a claim.
func withClaim(t *testing.T) *corev1beta2.StrimziPodSet {
	t.Helper()
	pod := podOf("c-p-0", func(p *corev1.Pod) {
		p.UID, p.OwnerReferences = "", nil
		p.Spec.Volumes = []corev1.Volume{{Name: "tmp"}, {Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-c-p-0"},
		}}}
	})
	entry, err := corev1beta2.NewPodEntry(pod)
	if err != nil {
		t.Fatal(err)
	}
	set := setOf(t, "r1")
	set.Spec.Pods = append(set.Spec.Pods, entry)
	return set
}

// A pod on a claim that is being deleted would keep the claim, or lose its data.
func TestReconcileWaitsForAClaimThatIsBeingDeleted(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-c-p-0", Namespace: "ns", Finalizers: []string{"kubernetes.io/pvc-protection"}}}
	r := newRig(t, withClaim(t), claim)
	if err := r.Client.Delete(t.Context(), claim.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	r.writes = nil
	if again := r.run(t).RequeueAfter; again != states.DefaultPoll || len(r.writes) > 1 {
		t.Errorf("again after %s, writes %v; want only the status", again, r.writes)
	}
	for range 2 {
		r.clock.Step(time.Minute)
		r.run(t)
	}
	set := &corev1beta2.StrimziPodSet{}
	if err := r.Client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "c-p"}, set); err != nil {
		t.Fatal(err)
	}
	want := "creating pod ns/c-p-0: not possible yet: its claim data-c-p-0 is being deleted, and has the finalizers kubernetes.io/pvc-protection"
	if len(set.Status.Conditions) != 1 || set.Status.Conditions[0].Message != want {
		t.Errorf("conditions %+v, want the message %q", set.Status.Conditions, want)
	}
	refused := []corev1beta2.RefusedPod{{Name: "c-p-0", Message: "not possible yet: its claim data-c-p-0 is being deleted, and has the finalizers kubernetes.io/pvc-protection"}}
	if diff := cmp.Diff(refused, set.Status.RefusedPods); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
		t.Fatal(err)
	}
	claim.Finalizers = nil
	if err := r.Client.Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	r.writes = nil
	r.run(t)
	if diff := cmp.Diff([]string{"create c-p-0", "status c-p"}, r.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestReconcileCreatesAPodOnItsClaim(t *testing.T) {
	r := newRig(t, withClaim(t), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-c-p-0", Namespace: "ns"}})
	r.run(t)
	if diff := cmp.Diff([]string{"create c-p-0", "status c-p"}, r.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}
