package kafka

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kafkaclient "github.com/detent-dev/detent/clients/kafka"
	"github.com/detent-dev/detent/controllers/kafka/observation"
	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	"github.com/detent-dev/detent/machines/dynamicconfig"
)

// declaresAList declares a value that Kafka cannot read.
func (r *rig) declaresAList(reconciler reconcile.Reconciler) {
	r.t.Helper()
	k := r.cluster()
	k.Spec.Kafka.Config["compression.type"] = jsonOf(`["zstd"]`)
	k.Generation++
	r.must(r.client.Update(r.t.Context(), k))
	r.steps(reconciler, 2, r.started)
}

// declaresRefused declares a value that Kafka refuses.
func (r *rig) declaresRefused(reconciler reconcile.Reconciler) {
	r.t.Helper()
	r.kafka.refuseToAlter = &kafkaclient.Refused{Code: kafkaclient.CodeInvalidRequest, Name: "INVALID_REQUEST", Message: "Invalid value zst for configuration compression.type"}
	r.configured(map[string]string{"compression.type": "zst"})
	r.steps(reconciler, 8, r.started)
	if got := r.state(observation.LifecycleConfiguration); got != dynamicconfig.Refusing {
		r.t.Fatalf("state %q, want Refused", got)
	}
}

// file returns the ConfigMap of a pod, and the key of it that the pod mounts and that begins like that.
func (r *rig) file(pod, stem string) (*corev1.ConfigMap, string) {
	r.t.Helper()
	p, m := &corev1.Pod{}, &corev1.ConfigMap{}
	r.must(r.get(p, pod))
	r.must(r.get(m, pod))
	for _, key := range observation.ConfigKeys(&p.Spec, pod) {
		if strings.HasPrefix(key, stem) {
			return m, key
		}
	}
	r.t.Fatalf("%s mounts no key %s", pod, stem)
	return nil, ""
}

// What is restored of a file changes no other file, and no file gets a value that is refused.
func TestKindRestoresNoOtherFile(t *testing.T) {
	specs := map[string]func(*rig, reconcile.Reconciler){"a list": (*rig).declaresAList, "a value that Kafka refuses": (*rig).declaresRefused}
	const logging, server = "log4j2-", "server-"
	for name, tc := range map[string]struct {
		stem   string
		damage func(m *corev1.ConfigMap, key string)
	}{
		"another file was edited":                    {logging, func(m *corev1.ConfigMap, key string) { m.Data[key] += "# edited\n" }},
		"another file was removed":                   {logging, func(m *corev1.ConfigMap, key string) { delete(m.Data, key) }},
		"the properties were removed":                {server, func(m *corev1.ConfigMap, key string) { delete(m.Data, key) }},
		"the properties and their hash were removed": {server, func(m *corev1.ConfigMap, key string) { delete(m.Data, key); m.Annotations = nil }},
	} {
		for spec, declare := range specs {
			t.Run(name+" beside "+spec, func(t *testing.T) {
				r, reconciler := configurable(t)
				declare(r, reconciler)
				m, key := r.file(podBroker, tc.stem)
				want := m.Data[key]
				tc.damage(m, key)
				r.must(r.client.Update(t.Context(), m))
				r.steps(reconciler, 5, r.started)
				m, key = r.file(podBroker, tc.stem)
				if got, exists := m.Data[key]; exists && got != want || !exists && tc.stem != server {
					t.Errorf("content of %s (exists: %t):\n%s\nwant:\n%s", key, exists, got, want)
				}
				if got := r.mounts("compression.type")[podBroker]; tc.stem != server && got != "gzip" || got != "" && got != "gzip" {
					t.Errorf("the file has %q, want gzip", got)
				}
			})
		}
	}
}

// A file that is lost while Kafka refuses a value is written once the value is corrected.
func TestKindRestoresAFileAfterACorrection(t *testing.T) {
	r, reconciler := configurable(t)
	r.declaresRefused(reconciler)
	r.remove(&corev1.ConfigMap{}, podBroker)
	r.steps(reconciler, 5, nil)
	if r.get(&corev1.ConfigMap{}, podBroker) == nil {
		t.Fatalf("the file was written with %q", r.mounts("compression.type")[podBroker])
	}
	found := false
	for _, c := range r.cluster().Status.Conditions {
		found = found || strings.Contains(c.Message, podBroker+" would write what is refused: Kafka refuses a value of spec.kafka.config: correct it")
	}
	if !found {
		t.Errorf("conditions %+v", r.cluster().Status.Conditions)
	}
	r.configured(map[string]string{"compression.type": "gzip"})
	r.steps(reconciler, 8, nil)
	if got := r.mounts("compression.type")[podBroker]; got != "gzip" {
		t.Errorf("the file has %q, want gzip", got)
	}
}

// A set that is lost with its pods comes back with the files that they ran with, and a broker without its file only after the correction.
func TestKindRestoresNoNodeWithWhatIsRefused(t *testing.T) {
	specs := map[string]func(*rig, reconcile.Reconciler){"a list": (*rig).declaresAList, "a value that Kafka refuses": (*rig).declaresRefused}
	for name, tc := range map[string]struct {
		lost string // the ConfigMap that is lost as well
		want map[string]string
	}{
		"the files are left": {want: map[string]string{podBroker: "gzip", otherBroker: "gzip", podLeaving: "gzip"}},
		"a file is lost":     {lost: podBroker, want: map[string]string{otherBroker: "gzip", podLeaving: "gzip"}},
	} {
		for spec, declare := range specs {
			t.Run(name+" beside "+spec, func(t *testing.T) {
				r, reconciler := configurable(t)
				declare(r, reconciler)
				r.remove(&corev1beta2.StrimziPodSet{}, setBroker)
				for _, pod := range []string{podBroker, otherBroker, podLeaving} {
					r.remove(&corev1.Pod{}, pod)
				}
				if tc.lost != "" {
					r.remove(&corev1.ConfigMap{}, tc.lost)
				}
				back := func() { _ = r.podSets(); r.kubelet(); r.started() }
				r.steps(reconciler, 8, back)
				if diff := cmp.Diff(tc.want, r.brokerValues("compression.type")); diff != "" {
					t.Errorf("values in the files of the brokers (-want +got):\n%s", diff)
				}
				r.kafka.refuseToAlter = nil
				r.configured(map[string]string{"compression.type": "lz4"})
				r.steps(reconciler, 12, back)
				if got := r.brokerValues("compression.type"); len(got) != 3 || tc.lost != "" && got[tc.lost] != "lz4" {
					t.Errorf("values after the correction: %v, want 3 brokers, and lz4 of one whose file was lost", got)
				}
			})
		}
	}
}

// brokerValues are the values of a property in the files of the brokers that have a pod.
func (r *rig) brokerValues(property string) map[string]string {
	r.t.Helper()
	out := r.mounts(property)
	maps.DeleteFunc(out, func(pod, _ string) bool { return !strings.HasPrefix(pod, setBroker+"-") })
	return out
}
