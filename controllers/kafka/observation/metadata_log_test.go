package observation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/kafka/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// The volume of the metadata log is known from the pod, else from the entry, and not from a pod that found its data missing.
func TestMovedMetadataLog(t *testing.T) {
	on := func(dir string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-p-1"}, Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: render.FormatContainer, Env: []corev1.EnvVar{
			{Name: "LOG_DIRS", Value: "persistent:0:/d-0 persistent:1:/d-1 ephemeral:2:/d-2"}, {Name: "METADATA_DIR", Value: dir},
		}}}}}
	}
	done := record.Record{Format: record.FormatDone}
	entry := Entry{Exists: true, MetadataLog: render.MetadataLog{Known: true, Persistent: true, Volume: 1}}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		node Node
		want string
	}{
		"a pod on the declared volume":                {pod: on("/d-0"), node: Node{Record: done}},
		"a pod on another volume":                     {pod: on("/d-1"), node: Node{Record: done}, want: "lies on persistent volume 1, and KafkaNodePool p declares persistent volume 0"},
		"a pod on an ephemeral volume":                {pod: on(""), node: Node{Record: done}, want: "lies on an ephemeral volume"},
		"a pod on another volume that found no data":  {pod: on("/d-1"), node: Node{Record: done, Pod: Pod{Exists: true, Volumes: Volumes{Lost: "/d-1"}}}},
		"storage that may be formatted":               {pod: on("/d-1"), node: Node{Record: record.Record{Format: record.FormatAllowed}}},
		"a pod of another program and no entry":       {pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-p-1"}}, node: Node{Record: done}},
		"a directory that is on none of the volumes":  {pod: on("/elsewhere"), node: Node{Record: done}},
		"no pod, and an entry on another volume":      {node: Node{Record: done, Entry: entry}, want: "lies on persistent volume 1"},
		"a pod on the declared volume, and the entry": {pod: on("/d-0"), node: Node{Record: done, Entry: entry}},
	} {
		t.Run(name, func(t *testing.T) {
			pool := &kafkav1beta2.KafkaNodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			pool.Spec.Storage = kafkav1beta2.Storage{Type: kafkav1beta2.StorageJBOD, Volumes: []kafkav1beta2.Volume{{ID: 0, Type: kafkav1beta2.VolumePersistentClaim}, {ID: 1, Type: kafkav1beta2.VolumePersistentClaim}}}
			v := &Snapshot{Objects: Objects{Pools: []*kafkav1beta2.KafkaNodePool{pool}}}
			if tc.pod != nil {
				v.Objects.Pods = []*corev1.Pod{tc.pod}
			}
			tc.node.ID, tc.node.Pool, tc.node.PodName, tc.node.Recorded = 1, "p", "c-p-1", true
			got := ""
			if problem := v.MovedMetadataLog(&tc.node); problem != nil {
				got = problem.Message
			}
			if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("MovedMetadataLog = %q, want %q", got, tc.want)
			}
		})
	}
}
