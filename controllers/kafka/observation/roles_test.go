package observation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/record"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

func TestJudgeRoles(t *testing.T) {
	broker, controller, both := Roles{Broker: true}, Roles{Controller: true}, Roles{Broker: true, Controller: true}
	for name, tc := range map[string]struct {
		ports    []int32
		entry    Roles
		older    bool // the pod is older than its entry
		record   []kafkav1beta2.NodeRole
		labelled Roles
		want     Roles
	}{
		"all agree":                                 {ports: []int32{9090}, entry: controller, record: controller.List(), labelled: controller, want: controller},
		"the labels were edited":                    {ports: []int32{9090}, entry: controller, record: controller.List(), labelled: broker, want: controller},
		"the labels were removed":                   {ports: []int32{9090, 9091, 9092}, entry: both, record: both.List(), want: both},
		"a role is being added, and the pod is old": {ports: []int32{9090}, entry: both, older: true, record: both.List(), labelled: both, want: controller},
		"no port, and an entry":                     {entry: controller, record: both.List(), labelled: broker, want: controller},
		"no port, and a newer entry":                {entry: both, older: true, record: controller.List(), labelled: broker, want: controller},
		"only a record":                             {record: controller.List(), labelled: broker, want: controller},
		"adopted by its ports":                      {ports: []int32{9091}, labelled: both, want: broker},
		"adopted by its labels":                     {labelled: broker, want: broker},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-p-1", Labels: tc.labelled.Labels()}}
			container := corev1.Container{Name: containerKafka}
			for _, port := range tc.ports {
				container.Ports = append(container.Ports, corev1.ContainerPort{ContainerPort: port})
			}
			pod.Spec.Containers = []corev1.Container{{Name: "sidecar", Ports: []corev1.ContainerPort{{ContainerPort: 9090}, {ContainerPort: 9091}}}, container}
			n := &Node{
				PodName: pod.Name, Pod: Pod{Exists: true, Revision: "a"}, Recorded: tc.record != nil, Record: record.Record{Roles: tc.record},
				Entry: Entry{Exists: tc.entry != Roles{}, Revision: "a", roles: tc.entry},
			}
			if tc.older {
				n.Entry.Revision = "b"
			}
			d := &deriver{snapshot: &Snapshot{Objects: Objects{Pods: []*corev1.Pod{pod}}}}
			d.judgeRoles(n)
			if diff := cmp.Diff(tc.want, n.RolesRunning); diff != "" {
				t.Errorf("roles (-want +got):\n%s", diff)
			}
		})
	}
}
