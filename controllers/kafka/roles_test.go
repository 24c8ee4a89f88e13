package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/detent-dev/detent/controllers/kafka/record"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
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
		"all agree":                                 {ports: []int32{9090}, entry: controller, record: controller.list(), labelled: controller, want: controller},
		"the labels were edited":                    {ports: []int32{9090}, entry: controller, record: controller.list(), labelled: broker, want: controller},
		"the labels were removed":                   {ports: []int32{9090, 9091, 9092}, entry: both, record: both.list(), want: both},
		"a role is being added, and the pod is old": {ports: []int32{9090}, entry: both, older: true, record: both.list(), labelled: both, want: controller},
		"no port, and an entry":                     {entry: controller, record: both.list(), labelled: broker, want: controller},
		"no port, and a newer entry":                {entry: both, older: true, record: controller.list(), labelled: broker, want: controller},
		"only a record":                             {record: controller.list(), labelled: broker, want: controller},
		"adopted by its ports":                      {ports: []int32{9091}, labelled: both, want: broker},
		"adopted by its labels":                     {labelled: broker, want: broker},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "c-p-1", Labels: tc.labelled.labels()}}
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

// relabel sets the role labels of a pod as a user does; nil removes them.
func (r *rig) relabel(pod string, l map[string]string) {
	r.t.Helper()
	p := &corev1.Pod{}
	r.must(r.get(p, pod))
	delete(p.Labels, labels.BrokerRole)
	delete(p.Labels, labels.ControllerRole)
	p.Labels = over(p.Labels, l)
	r.must(r.client.Update(r.t.Context(), p))
}

// If a user changes the role labels of a pod, the node keeps the roles with which its process was started, and one write restores
// the labels: otherwise clients would be sent to a pod that is not a broker.
func TestRepairRestoresRoleLabels(t *testing.T) {
	for name, l := range map[string]map[string]string{
		"a controller is labelled a broker":  Roles{Broker: true}.labels(),
		"a controller is labelled both":      Roles{Broker: true, Controller: true}.labels(),
		"a controller is labelled nothing":   {labels.BrokerRole: "false", labels.ControllerRole: "false"},
		"the labels of the role are removed": nil,
	} {
		t.Run(name, func(t *testing.T) {
			r := separate(t)
			r.settle()
			before := &corev1.Pod{}
			r.must(r.get(before, podController))
			r.relabel(podController, l)
			r.writes = nil
			v := r.snapshot(false)
			if diff := cmp.Diff(Roles{Controller: true}, v.Node(3).RolesRunning); diff != "" {
				t.Errorf("roles (-want +got):\n%s", diff)
			}
			if at := endpointWith(r.cluster(), v.Nodes).Nodes[3]; at.Controller == "" || at.Broker != "" {
				t.Errorf("the controller is asked at %+v", at)
			}
			r.settle()
			after := &corev1.Pod{}
			r.must(r.get(after, podController))
			if diff := cmp.Diff(before.Labels, after.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"update Pod " + podController}, r.written()); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// An entry that is made again from its pod has the roles of the process, not those of labels that a user has edited.
func TestRepairRestoresEntryWithRunningRoles(t *testing.T) {
	r := separate(t)
	k := r.cluster()
	k.Spec.Kafka.Image = "example.com/kafka:old"
	r.must(r.client.Update(t.Context(), k))
	r.settle()
	r.changed() // so that the entry is made from the pod, and not rendered
	r.remove(&corev1beta2.StrimziPodSet{}, "my-cluster-controller")
	r.relabel(podController, Roles{Broker: true}.labels())
	r.must(r.repair())
	set := &corev1beta2.StrimziPodSet{}
	r.must(r.get(set, "my-cluster-controller"))
	for _, e := range set.Spec.Pods {
		pod, err := e.Pod()
		r.must(err)
		if diff := cmp.Diff(Roles{Controller: true}, labelledRoles(pod.Labels)); diff != "" {
			t.Errorf("roles of the entry of %s (-want +got):\n%s", pod.Name, diff)
		}
	}
}
