package observation

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/controllers/kafka/restarting"
	"github.com/detent-dev/detent/controllers/labels"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
)

// Kubelets, webhooks and users write pods. The derived texts are short, valid and deterministic.
func FuzzPod(f *testing.F) {
	for _, status := range []corev1.PodStatus{
		{Phase: corev1.PodFailed, Reason: "Evicted", Message: "no room"},
		{ContainerStatuses: []corev1.ContainerStatus{status(terminated(1, "Error", dyingBroker), corev1.ContainerState{})}},
		{InitContainerStatuses: []corev1.ContainerStatus{status(waiting("CrashLoopBackOff", ""), terminated(64, "", "[2026-01-01] "))}},
	} {
		text, err := json.Marshal(corev1.Pod{Status: status})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "9223372036854775807", "p/u/2026-11-20T12:00:00Z")
	}
	f.Add([]byte(`{"spec": {"containers": [{}, {"name": "kafka"}]}, "status": {"conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": [{"name": "kafka",
		"restartCount": -1, "state": {"running": {}, "waiting": {"reason": "ErrImagePull"}}, "lastState": {"terminated": {"exitCode": -1, "message": "\u0000[1"}}}]}}`), "-1", "//")
	f.Fuzz(func(t *testing.T, text []byte, interval, mark string) {
		var pod corev1.Pod
		if json.Unmarshal(text, &pod) != nil {
			return // no pod
		}
		pod.Annotations = map[string]string{labels.SnapshotInterval: interval}
		got := podFacts(&pod, noon)
		if !reflect.DeepEqual(got, podFacts(&pod, noon)) {
			t.Fatal("reads differently each time")
		}
		if len(message(got.Trouble)) > 600 || !utf8.ValidString(message(got.Trouble)) || got.SnapshotInterval < 0 || got.Ready && got.Terminating {
			t.Fatalf("facts %+v", got)
		}
		set := &corev1beta2.StrimziPodSet{}
		set.Annotations = map[string]string{labels.Restarting: mark}
		if m, readable := restarting.Of(set); readable && m.Left(noon) > restarting.Limit {
			t.Fatalf("the mark %q holds for %s", mark, m.Left(noon))
		}
	})
}
