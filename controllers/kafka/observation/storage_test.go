package observation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

const brokerDir = "/var/lib/kafka/data-0/kafka-log0"

func TestVolumeReport(t *testing.T) {
	lost := terminated(64, "Error", lostWords(brokerDir))
	withheld := terminated(64, "Error", "ERROR storage withheld: the data of this node lies on persistent volume 1, and this pod has none of that id\n")
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for name, tc := range map[string]struct {
		state, last corev1.ContainerState
		kafka       *corev1.ContainerState
		want        Volumes
	}{
		"the container has not ended":                {state: running},
		"it accepted the volumes":                    {state: terminated(0, "Completed", ""), want: Volumes{Accepted: true}},
		"it found a volume empty":                    {state: lost, want: Volumes{Lost: brokerDir}},
		"it waits to run again":                      {state: waiting("CrashLoopBackOff", ""), last: lost, want: Volumes{Lost: brokerDir}},
		"it runs again":                              {state: running, last: lost, want: Volumes{Lost: brokerDir}},
		"it found the volume when it ran again":      {state: terminated(0, "Completed", ""), last: lost, want: Volumes{Accepted: true}},
		"two directories":                            {state: terminated(64, "Error", lostWords("/a /b/__cluster_metadata-0")), want: Volumes{Lost: "/a /b/__cluster_metadata-0"}},
		"lines of the tool around it":                {state: terminated(64, "Error", "WARN x\n"+lostWords(brokerDir)+"bye\n"), want: Volumes{Lost: brokerDir}},
		"a volume is not declared any more":          {state: withheld},
		"the marker with another code":               {state: terminated(1, "Error", lostWords(brokerDir))},
		"the code without a message":                 {state: terminated(64, "Error", "")},
		"the tool failed":                            {state: terminated(1, "Error", "java.lang.RuntimeException: disk full")},
		"Kafka runs, whatever is left of the status": {state: lost, kafka: &running, want: Volumes{Accepted: true}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{Name: "format", State: tc.state, LastTerminationState: tc.last}}}}
			if tc.kafka != nil {
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "kafka", State: *tc.kafka}}
			}
			if diff := cmp.Diff(tc.want, podFacts(pod, noon).Volumes); diff != "" {
				t.Errorf("volumes (-want +got):\n%s", diff)
			}
		})
	}
}

func lostWords(dir string) string {
	return "ERROR storage lost: nothing is left in " + dir + ", and ConfigMap x-record forbids formatting it again (format: done). Bring the volume back\n"
}
