package observation

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/controllers/mirrormaker2/connection"
	"github.com/detent-dev/detent/controllers/mirrormaker2/render"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/transitions"
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

// TestCollectorRecordsCommitTimes checks that a process may commit for as long as the configuration says that its pod mounts, whatever the spec says
// meanwhile, also once its pod or the configuration is gone.
func TestCollectorRecordsCommitTimes(t *testing.T) {
	configs := map[string]string{}
	pod := func(container, millis string) *corev1.Pod {
		config := flushing(t, millis).ConfigMap(nil)
		mounts := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: config.Name}}
		for key, content := range config.Data {
			configs[key] = content
			mounts.Items = []corev1.KeyToPath{{Key: key}}
		}
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "my-mm2-mirrormaker2-0", UID: "u"},
			Spec:       corev1.PodSpec{NodeName: "node-1", Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{ConfigMap: mounts}}}},
			Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: render.Container, ContainerID: container, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}},
		}
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: render.ConfigName("my-mm2")}, Data: configs}
	c := &Collector{Hosts: failingReader{}}
	var recorded *corev1.ConfigMap
	for _, step := range []struct {
		name, millis string
		pods         []*corev1.Pod
		config       *corev1.ConfigMap
		want         time.Duration
	}{
		{"it is first seen after an edit", "1000", []*corev1.Pod{pod("a", "300000")}, config, 310 * time.Second},
		{"the spec has a reference", "'${env:FLUSH}'", []*corev1.Pod{pod("a", "300000")}, config, 310 * time.Second},
		{"the configuration is lost", "1000", []*corev1.Pod{pod("a", "300000")}, nil, 310 * time.Second},
		{"its pod is gone", "400000", nil, config, 310 * time.Second},
		{"another process", "1000", []*corev1.Pod{pod("b", "1000")}, config, 11 * time.Second},
		{"another process with a reference", "1000", []*corev1.Pod{pod("c", "'${env:FLUSH}'")}, config, render.Endless.Truncate(time.Millisecond)},
	} {
		v := &Snapshot{Now: noon, Limits: limits(0), Rendered: flushing(t, step.millis), Recorded: recorded, Pods: step.pods, Config: step.config}
		v.Processes = c.processes(context.Background(), "1", v)
		if len(v.Processes) != 1 || v.Processes[0].longestCommit() != step.want {
			t.Errorf("%s: %+v, want one that commits for %s", step.name, v.Processes, step.want)
		}
		recorded = &corev1.ConfigMap{Data: v.ProcessData()}
	}
}

// TestCollectorSaysWhatIsInDoubt checks that a process that time does not account for is shown with the way out.
func TestCollectorSaysWhatIsInDoubt(t *testing.T) {
	for name, tc := range map[string]struct {
		record string
		reason transitions.Reason
		want   []string
	}{
		"no right to read Nodes": {`{"pod":"my-mm2-mirrormaker2-1","podUID":"u","container":"c","node":"node-1"}`, ReasonNodeForbidden, []string{"may not read its Node node-1", "the right to get nodes", "ConfigMap my-mm2-mirrormaker2-processes"}},
		"it cannot be read":      {"?", ReasonRecordUnreadable, []string{"its record cannot be read", "remove the entries 1.aa and "}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Collector{Hosts: failingReader{}}
			v := &Snapshot{Now: noon, Limits: limits(0), Rendered: flushing(t, "1000"), Recorded: &corev1.ConfigMap{Data: map[string]string{"1.aa": tc.record}}}
			v.Processes = c.processes(context.Background(), "1", v)
			w := &watching{processes: v.Processes, tasks: make([]connection.Reading, 1)}
			workers := w.workers(v, newWatch(), noon)
			if len(workers) != 1 || workers[0].Doubt == nil || workers[0].Doubt.Reason != tc.reason {
				t.Fatalf("workers %+v, want one with the doubt %s", workers, tc.reason)
			}
			for _, part := range tc.want {
				if doubt := workers[0].Doubt.Message; !strings.Contains(doubt, part) {
					t.Errorf("the doubt is %q, want one with %q", doubt, part)
				}
			}
		})
	}
}

// TestWatchingSaysWhatIsInDoubt checks the words about a worker whose pod exists.
func TestWatchingSaysWhatIsInDoubt(t *testing.T) {
	deleted := metav1.NewTime(noon)
	for name, tc := range map[string]struct {
		millis  string
		deleted *metav1.Time
		reason  transitions.Reason
		want    string
	}{
		"it runs":             {millis: "1000"},
		"it is being ended":   {millis: "1000", deleted: &deleted, reason: ReasonPodDeleting, want: "its pod is being deleted"},
		"it commits for long": {millis: `"${env:FLUSH}"`, reason: ReasonCommitTime, want: "write numbers"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "my-mm2-mirrormaker2-0", UID: "u", DeletionTimestamp: tc.deleted}, Spec: corev1.PodSpec{NodeName: "node-1"}}
			v := &Snapshot{Now: noon, Limits: limits(0), Rendered: flushing(t, tc.millis), Pods: []*corev1.Pod{pod}}
			v.Recorded = &corev1.ConfigMap{Data: encoded([]Process{{Pod: pod.Name, PodUID: "u", Container: "c", Node: "node-1"}})}
			v.Processes = (&Collector{Hosts: failingReader{}}).processes(context.Background(), "1", v)
			w := &watching{processes: v.Processes, tasks: make([]connection.Reading, 1)}
			got := w.workers(v, newWatch(), noon)[0].Doubt
			if tc.reason == "" {
				if got != nil {
					t.Errorf("the doubt is %+v, want none", got)
				}
				return
			}
			if got == nil || got.Reason != tc.reason || !strings.Contains(got.Message, tc.want) {
				t.Errorf("the doubt is %+v, want %s with %q", got, tc.reason, tc.want)
			}
		})
	}
}

// failingReader is an API server that refuses every read.
type failingReader struct{ client.Reader }

func (failingReader) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, key.Name, errors.New("not permitted"))
}
