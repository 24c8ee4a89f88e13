package kafka

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// replacePool deletes a pool and creates it again with other storage, as a user does whose change the schema rejects.
func (r *rig) replacePool(name string, storage kafkav1beta2.Storage) {
	r.t.Helper()
	pool := &kafkav1beta2.KafkaNodePool{}
	r.must(r.get(pool, name))
	r.must(r.client.Delete(r.t.Context(), pool))
	again := pool.DeepCopy()
	again.UID, again.ResourceVersion, again.Status = types.UID("second-"+string(pool.UID)), "", kafkav1beta2.KafkaNodePoolStatus{}
	again.Spec.Storage = storage
	r.must(r.client.Create(r.t.Context(), again))
}

func volumes(kinds ...kafkav1beta2.VolumeType) kafkav1beta2.Storage {
	s := kafkav1beta2.Storage{Type: kafkav1beta2.StorageJBOD}
	for i, kind := range kinds {
		v := kafkav1beta2.Volume{ID: int32(i), Type: kind}
		v.Size = "100Gi"
		s.Volumes = append(s.Volumes, v)
	}
	return s
}

// A pool that comes back with other storage under the same ids does not take the nodes away from their data.
func TestRestartRefusesNodesWithUndeclaredDisks(t *testing.T) {
	single := kafkav1beta2.Storage{Type: kafkav1beta2.StoragePersistentClaim}
	single.Size = "100Gi"
	for name, tc := range map[string]struct {
		storage kafkav1beta2.Storage
		want    string
	}{
		"ephemeral":            {kafkav1beta2.Storage{Type: kafkav1beta2.StorageEphemeral}, "volume 0"},
		"an ephemeral volume":  {volumes(kafkav1beta2.VolumeEphemeral), "volume 0"},
		"a claim of its own":   {single, "volume 0 (on PersistentVolumeClaim data-0-my-cluster-broker-0, not on data-my-cluster-broker-0)"},
		"as it was":            {volumes(kafkav1beta2.VolumePersistentClaim), ""},
		"with another volume":  {volumes(kafkav1beta2.VolumePersistentClaim, kafkav1beta2.VolumePersistentClaim), ""},
		"and a passing volume": {volumes(kafkav1beta2.VolumePersistentClaim, kafkav1beta2.VolumeEphemeral), ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.registered()
			r.settle()
			entry := r.entry(setBroker, podBroker)
			claims := len(r.snapshot(false).Objects.Claims)
			r.replacePool("broker", tc.storage)
			r.settle()
			k, v := r.cluster(), r.snapshot(false)
			got := message(specErrorOf(k, v))
			if tc.want == "" {
				if got != "" {
					t.Errorf("spec error %q", got)
				}
				return
			}
			if !strings.Contains(got, "the data of "+podBroker+" lies on persistent "+tc.want+",") || !strings.Contains(got, "2 more nodes") {
				t.Errorf("spec error %q does not name the node and %s", got, tc.want)
			}
			if err := r.restart(0, "4.1.1"); err == nil || r.versionOf(podBroker) == "gone" {
				t.Errorf("a restart is not refused: %v", err)
			}
			// What is lost comes back as it last ran.
			r.losePod(podBroker)
			r.settle()
			pod := &corev1.Pod{}
			r.must(r.get(pod, podBroker))
			if len(observation.PersistentVolumes(pod)) != 1 || r.entry(setBroker, podBroker) != entry {
				t.Errorf("volumes %+v", pod.Spec.Volumes)
			}
			if n := len(r.snapshot(false).Objects.Claims); n != claims {
				t.Errorf("%d claims, want the %d there were", n, claims)
			}
			// If no source has the last version, the node is not created without its data.
			r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
			r.losePod(podBroker)
			r.settle()
			if got := r.entry(setBroker, podBroker); got != "" {
				t.Errorf("entry %s", got)
			}
			r.replacePool("broker", volumes(kafkav1beta2.VolumePersistentClaim))
			r.settle()
			r.must(r.get(pod, podBroker))
			if got := message(specErrorOf(r.cluster(), r.snapshot(false))); got != "" || len(observation.PersistentVolumes(pod)) != 1 {
				t.Errorf("declared again: spec error %q, volumes %+v", got, pod.Spec.Volumes)
			}
		})
	}
}

// numbered returns persistent volumes with the ids, of which one may be marked for the metadata log.
func numbered(marked int32, ids ...int32) kafkav1beta2.Storage {
	s := kafkav1beta2.Storage{Type: kafkav1beta2.StorageJBOD}
	for _, id := range ids {
		v := kafkav1beta2.Volume{ID: id, Type: kafkav1beta2.VolumePersistentClaim}
		if v.Size = "100Gi"; id == marked {
			v.KraftMetadata = kafkav1beta2.MetadataShared
		}
		s.Volumes = append(s.Volumes, v)
	}
	return s
}

// The metadata log of a node that has run stays on its volume: Kafka does not move it, and the node would not start without it.
func TestRestartRefusesAnotherVolumeForTheMetadataLog(t *testing.T) {
	const none = -1
	passing := numbered(none, 1, 2)
	passing.Volumes[0].Type = kafkav1beta2.VolumeEphemeral
	for name, tc := range map[string]struct {
		before, after kafkav1beta2.Storage
		want          string
	}{
		"a volume with a lower id is added": {numbered(none, 1), numbered(none, 0, 1), "lies on persistent volume 1, and KafkaNodePool broker declares persistent volume 0 for it (and so it is with 2 more nodes)"},
		"a marked volume is added":          {numbered(none, 1), numbered(2, 1, 2), "lies on persistent volume 1, and KafkaNodePool broker declares persistent volume 2"},
		"the mark is moved":                 {numbered(1, 1, 2), numbered(2, 1, 2), "lies on persistent volume 1, and KafkaNodePool broker declares persistent volume 2"},
		"the mark is removed":               {numbered(2, 1, 2), numbered(none, 1, 2), "lies on persistent volume 2, and KafkaNodePool broker declares persistent volume 1"},
		"it leaves an ephemeral volume": {passing, func() kafkav1beta2.Storage {
			s := passing.DeepCopy()
			s.Volumes[1].KraftMetadata = kafkav1beta2.MetadataShared
			return *s
		}(), "lies on an ephemeral volume, and KafkaNodePool broker declares persistent volume 2"},
		"a volume with a lower id, and the old mark": {numbered(none, 1), numbered(1, 0, 1), ""},
		"a volume with a higher id":                  {numbered(none, 1), numbered(none, 1, 2), ""},
		"the volume is marked":                       {numbered(none, 1), numbered(1, 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.registered()
			r.replacePool("broker", tc.before)
			r.settle()
			r.settle()
			pool := &kafkav1beta2.KafkaNodePool{}
			r.must(r.get(pool, "broker"))
			pool.Spec.Storage = tc.after
			r.must(r.client.Update(t.Context(), pool))
			r.settle()
			got := message(specErrorOf(r.cluster(), r.snapshot(false)))
			if tc.want == "" {
				if got != "" {
					t.Errorf("spec error %q", got)
				}
				return
			}
			contains(t, got, "the metadata log of "+podBroker+" "+tc.want, "kraftMetadata: shared")
			if err := r.restart(0, "4.1.1"); err == nil || r.versionOf(podBroker) == "gone" {
				t.Errorf("a restart is not refused: %v", err)
			}
		})
	}
}

// Several volumes of a node: each has to stay.
func TestPoolVolumeCannotBeRemoved(t *testing.T) {
	r := separate(t)
	r.registered()
	r.replacePool("broker", volumes(kafkav1beta2.VolumePersistentClaim, kafkav1beta2.VolumePersistentClaim))
	r.settle()
	r.settle()
	for name, storage := range map[string]kafkav1beta2.Storage{
		"removed":                volumes(kafkav1beta2.VolumePersistentClaim),
		"added as ephemeral":     volumes(kafkav1beta2.VolumePersistentClaim, kafkav1beta2.VolumeEphemeral),
		"without data of anyone": volumes(kafkav1beta2.VolumeEphemeral, kafkav1beta2.VolumePersistentClaim),
	} {
		pool := &kafkav1beta2.KafkaNodePool{}
		r.must(r.get(pool, "broker"))
		pool.Spec.Storage = storage
		r.must(r.client.Update(t.Context(), pool))
		if got := message(specErrorOf(r.cluster(), r.snapshot(false))); !strings.Contains(got, "KafkaNodePool broker does not declare") {
			t.Errorf("%s: spec error %q", name, got)
		}
	}
}

// Owners that others have given a claim are theirs; those of an earlier resource of the cluster would take the data along.
func TestApplyOwnersOfClaims(t *testing.T) {
	r := separate(t)
	r.settle()
	theirs := metav1.OwnerReference{APIVersion: "backups.example.com/v1", Kind: "Schedule", Name: "nightly", UID: "theirs"}
	claim := &corev1.PersistentVolumeClaim{}
	r.must(r.get(claim, "data-0-"+podBroker))
	claim.OwnerReferences = []metav1.OwnerReference{
		theirs,
		{APIVersion: "kafka.strimzi.io/v1beta2", Kind: "Kafka", Name: r.key.Name, UID: "earlier"},
		{APIVersion: "core.strimzi.io/v1beta2", Kind: "StrimziPodSet", Name: setBroker, UID: "earlier-set"},
	}
	r.must(r.client.Update(t.Context(), claim))
	r.settle()
	r.must(r.get(claim, claim.Name))
	if diff := cmp.Diff([]metav1.OwnerReference{theirs}, claim.OwnerReferences); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
}
