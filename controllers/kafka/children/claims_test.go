package children

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/detent-dev/detent/controllers/kafka/observation"
	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// recorder is a writer that keeps the last object that was written.
type recorder struct {
	lifecycle.Writer
	last    client.Object
	deleted client.Object
}

func (r *recorder) Delete(_ context.Context, o client.Object) error {
	r.deleted = o
	return nil
}

func (r *recorder) Own(child client.Object) error {
	child.SetOwnerReferences(append(child.GetOwnerReferences(), owner(kafkav1beta2.KindKafka, "c", "now")))
	return nil
}

func (r *recorder) Create(_ context.Context, o client.Object) error {
	r.last = o
	return nil
}

func (r *recorder) Update(_ context.Context, o client.Object) error {
	r.last = o
	return nil
}

func owner(kind, name, uid string) metav1.OwnerReference {
	version := kafkav1beta2.GroupVersion().String()
	if kind == corev1beta2.KindStrimziPodSet {
		version = corev1beta2.GroupVersion().String()
	}
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: types.UID(uid), Controller: new(true)}
}

// Claims hold data: they grow, they belong to the cluster only if they are to be deleted with it, and they are not recreated while
// they are being deleted.
func TestClaims(t *testing.T) {
	claim := func(size string, annotations map[string]string, owners ...metav1.OwnerReference) *corev1.PersistentVolumeClaim {
		c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-0-c-p-0", Annotations: annotations, OwnerReferences: owners}}
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
		return c
	}
	deleted := map[string]string{labels.DeleteClaim: "true"}
	now, before := owner(kafkav1beta2.KindKafka, "c", "now"), owner(kafkav1beta2.KindKafka, "c", "before")
	set, another := owner(corev1beta2.KindStrimziPodSet, "c-p", "set"), owner(kafkav1beta2.KindKafka, "d", "another")
	in := func(phase corev1.PersistentVolumeClaimPhase, c *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
		c.Status.Phase = phase
		return c
	}
	leaving := claim("1Gi", nil)
	leaving.DeletionTimestamp = new(metav1.Now())
	with := func(c *corev1.PersistentVolumeClaim, class, volume string) *corev1.PersistentVolumeClaim {
		c.Spec.VolumeName = volume
		if class != "" {
			c.Spec.StorageClassName = &class
		}
		return c
	}
	asked := func(class string) map[string]string { return map[string]string{labels.StorageClass: class} }
	for name, tc := range map[string]struct {
		want, have, written *corev1.PersistentVolumeClaim
		leaves              bool
		inUse               []int32
		deleted             bool
	}{
		"one that is not bound has another class":     {want: with(claim("1Gi", nil), "fast", ""), have: with(claim("1Gi", nil), "fsat", ""), deleted: true},
		"one that is not bound has no class":          {want: with(claim("1Gi", nil), "fast", ""), have: claim("1Gi", nil), deleted: true},
		"one that is not bound has the default class": {want: claim("1Gi", nil), have: with(claim("1Gi", nil), "standard", "")},
		"a webhook changed the class of one that is not bound": {
			want: with(claim("1Gi", nil), "fast", ""), have: with(claim("1Gi", asked("fast")), "fast-encrypted", ""),
		},
		"and another class is declared": {
			want: with(claim("1Gi", nil), "slow", ""), have: with(claim("1Gi", asked("fast")), "fast-encrypted", ""), deleted: true,
		},
		"and the class that it has is declared": {want: with(claim("1Gi", nil), "slow", ""), have: with(claim("1Gi", asked("fast")), "slow", "")},
		"a missing claim is created with the class that is asked for": {
			want: with(claim("1Gi", nil), "fast", ""), written: with(claim("1Gi", asked("fast")), "fast", ""),
		},
		"one that is bound has another class":                {want: with(claim("1Gi", nil), "fast", ""), have: with(claim("1Gi", nil), "slow", "pv-1")},
		"one that was in use has another class":              {want: with(claim("1Gi", nil), "fast", ""), have: with(claim("1Gi", nil), "slow", ""), inUse: []int32{0}},
		"one that is being deleted has another class":        {want: with(claim("1Gi", nil), "fast", ""), have: with(leaving.DeepCopy(), "fsat", "")},
		"a missing claim is created without an owner":        {want: claim("1Gi", nil), written: claim("1Gi", nil)},
		"with an owner if it is deleted with the cluster":    {want: claim("1Gi", deleted), written: claim("1Gi", deleted, now)},
		"a claim as desired is not written":                  {want: claim("1Gi", nil), have: claim("1Gi", nil)},
		"it grows":                                           {want: claim("2Gi", nil), have: claim("1Gi", nil), written: claim("2Gi", nil)},
		"a bound one grows":                                  {want: claim("2Gi", nil), have: in(corev1.ClaimBound, claim("1Gi", nil)), written: in(corev1.ClaimBound, claim("2Gi", nil))},
		"one that is not bound yet does not":                 {want: claim("2Gi", nil), have: in(corev1.ClaimPending, claim("1Gi", nil))},
		"it never shrinks":                                   {want: claim("1Gi", nil), have: claim("2Gi", nil)},
		"what deletes it with the cluster is withdrawn":      {want: claim("1Gi", nil), have: claim("1Gi", nil, now, set), written: claim("1Gi", nil)},
		"a claim of a node that is desired again has it":     {want: claim("1Gi", nil), have: claim("1Gi", map[string]string{"a": "b", labels.Released: "true"}), written: claim("1Gi", map[string]string{"a": "b"})},
		"a claim of a node that leaves stays released":       {want: claim("1Gi", nil), have: claim("1Gi", map[string]string{labels.Released: "true"}), leaves: true},
		"an owner of another name is kept":                   {want: claim("1Gi", nil), have: claim("1Gi", nil, another)},
		"the owner of an earlier cluster of the name goes":   {want: claim("1Gi", deleted), have: claim("1Gi", deleted, before), written: claim("1Gi", deleted, now)},
		"a claim that is being deleted is not written":       {want: claim("2Gi", nil), have: leaving},
		"an annotation of another writer is no difference":   {want: claim("1Gi", nil), have: claim("1Gi", map[string]string{"a": "b"})},
		"a size and an annotation are written, both at once": {want: claim("2Gi", deleted), have: claim("1Gi", map[string]string{"a": "b"}), written: claim("2Gi", map[string]string{"a": "b", labels.DeleteClaim: "true"}, now)},
	} {
		t.Run(name, func(t *testing.T) {
			w := &recorder{}
			k := &kafkav1beta2.Kafka{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: types.UID("now")}}
			s := &scope{kafka: k, write: w, current: []int32{0}}
			if err := s.claim(t.Context(), &observation.Node{PodName: "c-p-0", Wanted: !tc.leaves, Recorded: true, Record: record.Record{Volumes: tc.inUse}}, tc.want, tc.have); err != nil {
				t.Fatal(err)
			}
			if (w.deleted != nil) != tc.deleted {
				t.Errorf("deleted %v, want a deletion: %t", w.deleted, tc.deleted)
			}
			written, _ := w.last.(*corev1.PersistentVolumeClaim)
			if diff := cmp.Diff(tc.written, written, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("written (-want +got):\n%s", diff)
			}
		})
	}
}
