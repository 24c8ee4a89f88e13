package observation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// A volume that may hold data stays declared; one on which no process ran can be taken back.
func TestMisplacedVolumes(t *testing.T) {
	const pod = "c-p-0"
	const lies = "the data of c-p-0 lies on persistent volume 1, which KafkaNodePool p does not declare"
	for name, tc := range map[string]struct {
		format   record.Format
		recorded []int32
		running  bool
		want     string
	}{
		"it is in the record":                       {format: record.FormatDone, recorded: []int32{0, 1}, want: lies},
		"it is in the record, and a process has it": {format: record.FormatDone, recorded: []int32{0, 1}, running: true, want: lies},
		"a process has it":                          {format: record.FormatDone, recorded: []int32{0}, running: true, want: lies},
		"no process has it":                         {format: record.FormatDone, recorded: []int32{0}},
		"the node may be formatted":                 {format: record.FormatAllowed, running: true},
	} {
		t.Run(name, func(t *testing.T) {
			pool := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			pool.Spec.Storage = kafkav1beta2.Storage{Type: kafkav1beta2.StorageJBOD, Volumes: []kafkav1beta2.Volume{{Type: kafkav1beta2.VolumePersistentClaim}}}
			mounts := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}}
			for id := range int32(2) {
				claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: render.ListedClaim(pod, id)}
				mounts.Spec.Volumes = append(mounts.Spec.Volumes, corev1.Volume{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}})
			}
			v := &Snapshot{Objects: Objects{Pools: []*kafkav1beta2.KafkaNodePool{pool}, Pods: []*corev1.Pod{mounts}}}
			n := &Node{PodName: pod, Pool: "p", Recorded: true, Record: record.Record{Format: tc.format, Volumes: tc.recorded}, Pod: Pod{Exists: true, Running: tc.running}}
			got := ""
			if problem := v.Misplaced(n); problem != nil {
				got = problem.Message
			}
			if got != tc.want {
				t.Errorf("problem %q, want %q", got, tc.want)
			}
		})
	}
}
