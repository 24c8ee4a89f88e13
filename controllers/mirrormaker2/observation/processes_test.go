package observation

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// flushing is a cluster whose workers commit offsets after a time.
func flushing(t *testing.T, millis string) *render.Cluster {
	t.Helper()
	spec := &kafkav1beta2.KafkaMirrorMaker2Spec{}
	if err := yaml.UnmarshalStrict([]byte(`
connectCluster: west
clusters: [{alias: east, bootstrapServers: "east:9092"}, {alias: west, bootstrapServers: "west:9092", config: {offset.flush.interval.ms: `+millis+`}}]
mirrors: [{sourceCluster: east, targetCluster: west, sourceConnector: {}}]
`), spec); err != nil {
		t.Fatal(err)
	}
	return render.New(render.Input{Namespace: "default", Name: "my-mm2", Spec: spec, Version: "4.1.2"})
}

// TestCollectorRecordsCommitTimes checks that a process may commit for the longest time that the spec has said since it was seen, also once
// its pod is gone, and the next process for that of the spec.
func TestCollectorRecordsCommitTimes(t *testing.T) {
	pod := func(container string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "my-mm2-mirrormaker2-0", UID: "u"}, Spec: corev1.PodSpec{NodeName: "node-1"},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: render.Container, ContainerID: container, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}},
		}
	}
	c := &Collector{Hosts: failingReader{}}
	var recorded *corev1.ConfigMap
	for _, step := range []struct {
		name, millis string
		pods         []*corev1.Pod
		want         time.Duration
	}{
		{"it is seen", "300000", []*corev1.Pod{pod("a")}, 310 * time.Second},
		{"the time is shorter", "1000", []*corev1.Pod{pod("a")}, 310 * time.Second},
		{"its pod is gone", "1000", nil, 310 * time.Second},
		{"the time is longer", "400000", nil, 410 * time.Second},
		{"another process", "1000", []*corev1.Pod{pod("b")}, 11 * time.Second},
	} {
		v := &Snapshot{Now: noon, Limits: limits(0), Rendered: flushing(t, step.millis), Recorded: recorded, Pods: step.pods}
		v.Processes = c.processes(context.Background(), "1", v)
		if len(v.Processes) != 1 || v.Processes[0].longestCommit() != step.want {
			t.Errorf("%s: %+v, want one that commits for %s", step.name, v.Processes, step.want)
		}
		recorded = &corev1.ConfigMap{Data: v.ProcessData()}
	}
}

// failingReader is an API server that refuses every read.
type failingReader struct{ client.Reader }

func (failingReader) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, key.Name, errors.New("not permitted"))
}
