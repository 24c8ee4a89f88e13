package kafka

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
	"github.com/detent-dev/detent/machines/dynamicconfig"
	"github.com/detent-dev/detent/machines/noderoll"
	lifecycle "github.com/detent-dev/detent/runtime"
)

// die lets the containers of pods without a status die again and again.
func (r *rig) die(which func(pod string) bool) {
	r.t.Helper()
	for _, pod := range r.pods() {
		if !which(pod.Name) {
			continue
		}
		status := containerStatus(waiting("CrashLoopBackOff", ""), terminated(1, "Error", "ERROR Exiting Kafka due to fatal exception: ConfigException"))
		status.RestartCount = 5
		pod.Status.Phase, pod.Status.ContainerStatuses = corev1.PodRunning, []corev1.ContainerStatus{status}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(r.clock.Now())}}
		r.must(r.client.Status().Update(r.t.Context(), &pod))
	}
}

// dead lets everything run while every process dies.
func (r *rig) dead(reconciler reconcile.Reconciler, passes int) {
	r.t.Helper()
	for range passes {
		for _, step := range []func() error{func() error { return pass(r.t, reconciler, r.key) }, r.podSets} {
			if err := step(); err != nil && !errors.Is(err, lifecycle.ErrStale) && !apierrors.IsConflict(err) {
				r.t.Fatal(err)
			}
		}
		r.die(func(string) bool { return true })
		r.clock.Step(20 * time.Second)
	}
}

// mounts returns the values of a property in the files that the pods mount, by pod.
func (r *rig) mounts(name string) map[string]string {
	r.t.Helper()
	out := map[string]string{}
	for _, pod := range r.pods() {
		m := &corev1.ConfigMap{}
		r.must(r.get(m, pod.Name))
		for _, key := range observation.ConfigKeys(&pod.Spec, pod.Name) {
			for line := range strings.Lines(m.Data[key]) {
				if value, found := strings.CutPrefix(strings.TrimSpace(line), name+"="); found {
					out[pod.Name] = value
				}
			}
		}
	}
	return out
}

// A value of which every process dies is corrected by the spec alone, whether or not the file's key shows it.
func TestKindCorrectsAFatalValue(t *testing.T) {
	for name, tc := range map[string]struct {
		file, property, fatal, corrected string
	}{
		"a dynamic value of nodes with both roles":         {"kafka-with-dual-role-nodes.yaml", "log.cleanup.policy", "compct", "compact"},
		"another value of nodes with both roles":           {"kafka-with-dual-role-nodes.yaml", "queued.max.requests", "0", "7"},
		"a value of brokers, which kills controllers too":  {"kafka-persistent.yaml", "replica.fetch.max.bytes", "abc", "1048576"},
		"a dynamic value, which kills controllers as well": {"kafka-persistent.yaml", "log.cleanup.policy", "compct", "compact"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, manifests(t, upstream+"v1beta2/"+tc.file)...)
			k := r.cluster()
			k.Spec.Kafka.Config[tc.property] = jsonOf(`"` + tc.fatal + `"`)
			r.must(r.client.Update(t.Context(), k))
			r.kafka.err = errors.New("connection refused")
			reconciler := r.reconciler(t, r.client, r.client)
			r.dead(reconciler, 20)
			r.configured(map[string]string{tc.property: tc.corrected})
			r.dead(reconciler, 100)
			want := map[string]string{}
			for _, pod := range r.pods() {
				want[pod.Name] = tc.corrected
			}
			if diff := cmp.Diff(want, r.mounts(tc.property)); diff != "" || len(want) == 0 {
				t.Errorf("values in the files of %d pods (-want +got):\n%s", len(want), diff)
			}
		})
	}
}

// Only a process that has died gets a value that its file's key does not show: a pod that is lost comes back as it ran.
func TestKindChangesTheFileOfADeadNodeAlone(t *testing.T) {
	const name = "compression.type"
	for title, tc := range map[string]struct {
		down func(r *rig)
		want string
	}{
		"a node that is ready":           {down: func(*rig) {}, want: "gzip"},
		"a node that is starting":        {down: func(r *rig) { r.begins(podBroker) }, want: "gzip"},
		"a node whose process has died":  {down: func(r *rig) { r.die(func(pod string) bool { return pod == podBroker }) }, want: "zstd"},
		"a node whose process ran again": {down: func(r *rig) { r.die(func(pod string) bool { return pod == podBroker }); r.begins(podBroker) }, want: "gzip"},
	} {
		t.Run(title, func(t *testing.T) {
			r, reconciler := configurable(t)
			tc.down(r)
			r.configured(map[string]string{name: "zstd"})
			r.steps(reconciler, 12, r.started)
			got := r.mounts(name)
			if got[podBroker] != tc.want || got[otherBroker] != "gzip" {
				t.Errorf("values in the files %v, want %s of %s, and gzip of the others", got, tc.want, podBroker)
			}
		})
	}
}

// begins lets the container of a pod run, which is not ready yet.
func (r *rig) begins(name string) {
	r.t.Helper()
	pod := &corev1.Pod{}
	r.must(r.get(pod, name))
	at := metav1.NewTime(r.clock.Now())
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "kafka", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at}}
	r.must(r.client.Status().Update(r.t.Context(), pod))
}

// A value that Kafka refuses reaches no file: a node that was started with it would die.
func TestKindWritesNoRefusedValue(t *testing.T) {
	const name = "compression.type"
	for title, disturb := range map[string]func(r *rig){
		"a change that needs a restart": func(r *rig) { r.configured(map[string]string{"queued.max.requests": "9"}) },
		"a process that has died":       func(r *rig) { r.die(func(pod string) bool { return pod == podBroker }) },
		"a new broker":                  func(r *rig) { r.scale("broker", 4) },
	} {
		t.Run(title, func(t *testing.T) {
			r, reconciler := configurable(t)
			before := r.uids()
			r.kafka.refuseToAlter = &kafkaclient.Refused{Code: kafkaclient.CodeInvalidRequest, Name: "INVALID_REQUEST", Message: "Invalid value zst for configuration compression.type"}
			r.configured(map[string]string{name: "zst"})
			r.steps(reconciler, 8, r.started)
			if got := r.state(observation.LifecycleConfiguration); got != dynamicconfig.Refusing {
				t.Fatalf("state %q, want Refused", got)
			}
			disturb(r)
			r.steps(reconciler, 60, func() { r.must(r.podSets()); r.started() })
			if diff := cmp.Diff(before, r.uids()); diff != "" {
				t.Errorf("pods were restarted (-before +after):\n%s", diff)
			}
			want := map[string]string{}
			for pod := range before {
				want[pod] = "gzip"
			}
			if diff := cmp.Diff(want, r.mounts(name)); diff != "" {
				t.Errorf("values in the files (-want +got):\n%s", diff)
			}
			r.kafka.refuseToAlter = nil
			r.configured(map[string]string{name: "zstd"})
			at := func() bool {
				r.started()
				return r.state(observation.LifecycleRoll) == noderoll.Settled && r.state(observation.LifecycleConfiguration) == dynamicconfig.Settled &&
					!r.snapshot(false).Outdated(r.snapshot(false).Node(0))
			}
			if !r.runUntil(reconciler, 120, at) {
				t.Errorf("no rest after the value was corrected: %+v", r.cluster().Status.Lifecycles)
			}
		})
	}
}

// While the spec cannot be applied Kafka is asked about no value, so that none reaches a file. Without the other values nothing may be able
// to answer: a cluster that does not serve gets them, but never a file without a value that is declared and cannot be read.
func TestKindWritesNoUnjudgedValue(t *testing.T) {
	const name = "compression.type"
	all, one := func(string) bool { return true }, func(pod string) bool { return pod == podBroker }
	for title, tc := range map[string]struct {
		die   func(pod string) bool
		value string
		want  string
	}{
		"a process has died":            {die: one, value: `"zst"`, want: "gzip"},
		"every process has died":        {die: all, value: `"zstd"`, want: "zstd"},
		"a list, and one has died":      {die: one, value: `["zstd"]`, want: "gzip"},
		"a list, and every one is dead": {die: all, value: `["zstd"]`, want: "gzip"},
	} {
		t.Run(title, func(t *testing.T) {
			r, reconciler := configurable(t)
			r.kafka.refuseToAlter = &kafkaclient.Refused{Code: kafkaclient.CodeInvalidRequest, Name: "INVALID_REQUEST", Message: "Invalid value zst for configuration compression.type"}
			r.die(tc.die)
			k := r.cluster()
			k.Spec.Kafka.Config[name] = jsonOf(tc.value)
			k.Spec.Kafka.Authorization = &kafkav1beta2.Opaque{}
			k.Generation++
			r.must(r.client.Update(t.Context(), k))
			r.steps(reconciler, 20, func() { r.die(tc.die); r.started() })
			if got := r.mounts(name)[podBroker]; got != tc.want {
				t.Errorf("the file of the dead node has %q, want %q", got, tc.want)
			}
		})
	}
}

// A file that is lost is not made again without a value that is declared and cannot be read: Kafka's default would delete data.
func TestKindRestoresNoFileThatLacksAValue(t *testing.T) {
	r, reconciler := configurable(t)
	k := r.cluster()
	k.Spec.Kafka.Config["compression.type"] = jsonOf(`["zstd"]`)
	k.Generation++
	r.must(r.client.Update(t.Context(), k))
	lost := &corev1.ConfigMap{}
	r.must(r.get(lost, podBroker))
	r.must(r.client.Delete(t.Context(), lost))
	r.steps(reconciler, 5, r.started)
	if err := r.get(&corev1.ConfigMap{}, podBroker); !apierrors.IsNotFound(err) {
		t.Errorf("the ConfigMap: %v, want none", err)
	}
	want := "restoring the configuration of " + podBroker + " would write what is refused: no pod and no value is changed, because Kafka cannot read"
	if conditions := r.cluster().Status.Conditions; !slices.ContainsFunc(conditions, func(c metav1.Condition) bool { return strings.Contains(c.Message, want) }) {
		t.Errorf("conditions %+v, want %q", conditions, want)
	}
}

// A file that was edited by hand is put back also while the spec has an error: the operator wrote what it had before.
func TestKindRestoresAnEditedFileBesideASpecError(t *testing.T) {
	r, reconciler := configurable(t)
	k := r.cluster()
	k.Spec.Kafka.Authorization = &kafkav1beta2.Opaque{}
	k.Generation++
	r.must(r.client.Update(t.Context(), k))
	r.steps(reconciler, 2, r.started)
	pod, file := &corev1.Pod{}, &corev1.ConfigMap{}
	r.must(r.get(pod, podBroker))
	r.must(r.get(file, podBroker))
	for _, key := range observation.ConfigKeys(&pod.Spec, podBroker) {
		file.Data[key] = strings.ReplaceAll(file.Data[key], "compression.type=gzip", "compression.type=lz4")
	}
	r.must(r.client.Update(t.Context(), file))
	if got := r.mounts("compression.type")[podBroker]; got != "lz4" {
		t.Fatalf("the file has %q, want lz4", got)
	}
	r.steps(reconciler, 5, r.started)
	if got := r.mounts("compression.type")[podBroker]; got != "gzip" {
		t.Errorf("the file has %q, want gzip", got)
	}
}
