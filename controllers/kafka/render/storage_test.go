package render

import (
	"testing"

	"pgregory.net/rapid"

	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestDeclaresClaim(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pod := rapid.SampledFrom([]string{"c-p-0", "0-c-p-0", "p"}).Draw(rt, "pod")
		s := kafkav1beta2.Storage{Type: rapid.SampledFrom([]kafkav1beta2.StorageType{
			kafkav1beta2.StorageJBOD, kafkav1beta2.StoragePersistentClaim, kafkav1beta2.StorageEphemeral,
		}).Draw(rt, "type")}
		for _, id := range rapid.SliceOfN(rapid.Int32Range(0, 2), 0, 2).Draw(rt, "volumes") {
			kind := rapid.SampledFrom([]kafkav1beta2.VolumeType{kafkav1beta2.VolumePersistentClaim, kafkav1beta2.VolumeEphemeral}).Draw(rt, "kind")
			s.Volumes = append(s.Volumes, kafkav1beta2.Volume{ID: id, Type: kind})
		}
		claim := rapid.SampledFrom([]string{
			SingleClaim(pod), ListedClaim(pod, 0), ListedClaim(pod, 1), ListedClaim(pod, 2), "data", "data-x-" + pod, "other-" + pod, "data-00-" + pod,
		}).Draw(rt, "claim")
		id, of := ClaimVolume(claim, pod)
		declared, persistent := ClaimName(&s, pod, id)
		want := of && persistent && declared == claim
		if got := DeclaresClaim(&s, pod, claim); got != want {
			rt.Errorf("DeclaresClaim(%+v, %q, %q) = %v, want %v", s, pod, claim, got, want)
		}
	})
}
