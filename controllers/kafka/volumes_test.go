package kafka

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/status"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// A cluster is not ready before its volumes have the declared size.
func TestReadyNeedsTheDeclaredSizeOfVolumes(t *testing.T) {
	w := started(t, nil, declaredPool("controller", 1, roleController), declaredPool("broker", 1, roleBroker))
	const name = "data-0-my-cluster-broker-0"
	bind := func(size string, conditions ...corev1.PersistentVolumeClaimCondition) {
		claim := &corev1.PersistentVolumeClaim{}
		w.must(w.get(claim, name))
		claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
		claim.Status.Conditions = conditions
		w.must(w.client.Status().Update(t.Context(), claim))
		w.run(3)
	}
	check := func(what, reason, message string) {
		t.Helper()
		if got := w.ready(); got.Reason != reason || !strings.Contains(got.Message, message) {
			t.Errorf("%s: Ready is %s: %s: %s", what, got.Status, got.Reason, got.Message)
		}
	}
	bind("1Gi")
	check("as declared", "Settled", "")
	w.edit("broker", resize("2Gi"))
	w.run(3)
	check("asked for", status.ReasonVolumesNotExpanded, name+" has 1Gi of 2Gi: nothing reports")
	bind("1Gi", corev1.PersistentVolumeClaimCondition{Type: corev1.PersistentVolumeClaimFileSystemResizePending, Status: corev1.ConditionTrue})
	check("the file system is pending", status.ReasonVolumesNotExpanded, name+" has 1Gi of 2Gi: FileSystemResizePending")
	bind("2Gi")
	check("expanded", "Settled", "")
}

// A smaller size and another class are not applied to claims that exist. The cluster is ready, and a warning says so.
func TestStorageThatIsNotChangedIsAWarning(t *testing.T) {
	w := started(t, nil, declaredPool("controller", 1, roleController), declaredPool("broker", 2, roleBroker))
	w.edit("broker", func(p *kafkav1beta2.KafkaNodePool) {
		resize("512Mi")(p)
		p.Spec.Storage.Volumes[0].Class = "fast"
	})
	w.run(5)
	if got := w.ready(); got.Status != metav1.ConditionTrue {
		t.Errorf("Ready is %s: %s: %s", got.Status, got.Reason, got.Message)
	}
	pool := &kafkav1beta2.KafkaNodePool{}
	w.must(w.get(pool, "broker"))
	want := "KafkaNodePool broker declares a smaller size than these have: data-0-my-cluster-broker-0 (1Gi, declared 512Mi), data-0-my-cluster-broker-1 (1Gi, declared 512Mi), " +
		"and another storage class than these have: data-0-my-cluster-broker-0 (none, declared fast), data-0-my-cluster-broker-1 (none, declared fast). " +
		"PersistentVolumeClaims that exist stay as they are. Set it back, or make another pool with it, move the replicas there and scale this one down"
	for what, conditions := range map[string][]metav1.Condition{"Kafka": w.cluster().Status.Conditions, "KafkaNodePool": pool.Status.Conditions} {
		var got []string
		for _, c := range conditions {
			if c.Type == lifecycle.Warning && c.Reason == status.ReasonStorage {
				got = append(got, c.Message)
			}
		}
		if diff := cmp.Diff([]string{want}, got); diff != "" {
			t.Errorf("warnings of the %s (-want +got):\n%s", what, diff)
		}
	}
	if observation.Named(w.snapshot(false).Objects.Claims, "data-0-my-cluster-broker-0").Spec.StorageClassName != nil {
		t.Error("a claim that exists was changed")
	}
}
