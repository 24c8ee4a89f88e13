package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/record"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

// A record that a user has deleted is created again. It permits formatting only if nothing of the node names a persistent volume: the
// next pod would otherwise start on an empty one without a word.
func TestRepairOfADeletedRecordPermitsNoFormatting(t *testing.T) {
	const claim = "data-0-" + podBroker
	type result struct {
		Format  record.Format
		Volumes []int32
	}
	// terminating deletes an object that a finalizer keeps.
	terminating := func(r *rig) {
		c := &corev1.PersistentVolumeClaim{}
		r.must(r.get(c, claim))
		c.Finalizers = []string{"kubernetes.io/pvc-protection"}
		r.must(r.client.Update(r.t.Context(), c))
		r.remove(&corev1.PersistentVolumeClaim{}, claim)
	}
	gone := func(r *rig) { r.remove(&corev1.PersistentVolumeClaim{}, claim) }
	pod := func(r *rig) { r.remove(&corev1.Pod{}, podBroker) }
	set := func(r *rig) { r.remove(&corev1beta2.StrimziPodSet{}, setBroker) }
	kept := result{record.FormatDone, []int32{0}}
	for name, c := range map[string]struct {
		lose []func(*rig)
		want result
	}{
		"nothing else is lost":                      {nil, kept},
		"the claim terminates":                      {[]func(*rig){terminating}, kept},
		"the claim terminates, and the pod is lost": {[]func(*rig){terminating, pod}, kept},
		"the claim terminates, and the set is lost": {[]func(*rig){terminating, set}, kept},
		"the claim is gone":                         {[]func(*rig){gone}, kept},
		"the claim and the pod are gone":            {[]func(*rig){gone, pod}, kept},
		"the claim and the set are gone":            {[]func(*rig){gone, set}, kept},
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.registered()
			r.settle()
			r.remove(&corev1.ConfigMap{}, podBroker+"-record")
			for _, lose := range c.lose {
				lose(r)
			}
			r.must(r.repair())
			if err := r.pass(); err != nil {
				t.Logf("the first pass: %v", err) // a lost set is created before its pods
			}
			got := r.record(podBroker)
			if diff := cmp.Diff(c.want, result{got.Format, got.Volumes}); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

// A copy of a record under another name, such as a backup that a user made before the volume was formatted, is not the record of the
// node: it would permit formatting again.
func TestCopyOfARecordIsNotTheRecord(t *testing.T) {
	r := separate(t)
	r.registered()
	r.settle()
	early := &corev1.ConfigMap{}
	r.must(r.get(early, record.Name(podBroker)))
	early.Data[record.KeyFormat] = string(record.FormatAllowed)
	r.must(r.client.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "old-" + early.Name, Namespace: early.Namespace, Labels: early.Labels}, Data: early.Data,
	}))
	r.written()
	r.settle()
	if writes := r.written(); len(writes) > 0 {
		t.Errorf("writes at rest: %q", writes)
	}
	v := r.snapshot(false)
	want := []string{"*v1.ConfigMap old-" + early.Name + " carries the label of pool broker and is not named after one of its nodes"}
	if diff := cmp.Diff(want, v.Defects); diff != "" {
		t.Errorf("defects (-want +got):\n%s", diff)
	}
	r.remove(&corev1.Pod{}, podBroker)
	r.settle()
	if got := r.record(podBroker).Format; got != record.FormatDone {
		t.Errorf("the pod was lost: format %q", got)
	}
	if n := r.snapshot(false).Node(0); n.Record.Format != record.FormatDone {
		t.Errorf("observed format %q", n.Record.Format)
	}
}
