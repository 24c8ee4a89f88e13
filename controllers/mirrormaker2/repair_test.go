package mirrormaker2_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1beta2 "github.com/detent-dev/detent/crds/core/v1beta2"
	kafkav1beta2 "github.com/detent-dev/detent/crds/kafka/v1beta2"
)

// workers returns the names of the pods of the workers, with the versions that they run.
func (r *rig) workers() map[string]string {
	r.t.Helper()
	var pods corev1.PodList
	r.must(r.client.List(r.t.Context(), &pods))
	out := map[string]string{}
	for i := range pods.Items {
		out[pods.Items[i].Name] = pods.Items[i].Annotations["strimzi.io/kafka-version"]
	}
	return out
}

// lose removes the pod set with its pods, and a Service.
func (r *rig) lose() {
	r.t.Helper()
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "default"} }
	for _, o := range []client.Object{
		&corev1beta2.StrimziPodSet{ObjectMeta: meta("my-mm2-mirrormaker2")}, &corev1.Service{ObjectMeta: meta("my-mm2-mirrormaker2-api")},
	} {
		r.must(r.client.Get(r.t.Context(), client.ObjectKeyFromObject(o), o))
		r.must(r.server.Remove(o))
	}
}

// TestKindRepairsWhileTheSpecIsRefused checks that lost objects of a resource whose spec is refused are created again as they last ran, also by
// an operator that has just started, and that no other change of that spec is carried out with them.
func TestKindRepairsWhileTheSpecIsRefused(t *testing.T) {
	for name, refuse := range refusals() {
		t.Run(name, func(t *testing.T) {
			r := authenticated(t)
			before := r.entries()
			config := r.configMap("my-mm2-mirrormaker2-config")
			r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
				refuse(m)
				m.Spec.Version, m.Spec.Replicas = "4.1.1", new(int32(1))
			})
			r.until("the warning", func() bool { return r.warning("UnsupportedSecurity")+r.warning("UnreadableConfig") != "" })
			r.lose()
			r.must(r.server.Remove(config))
			r.start()
			r.until("that the workers run again", func() bool { return len(r.workers()) == 2 })
			for range 20 {
				r.step()
			}
			if diff := cmp.Diff(before, r.entries()); diff != "" {
				t.Errorf("entries (-before +after the loss): %s", diff)
			}
			if diff := cmp.Diff(config.Data, r.configMap("my-mm2-mirrormaker2-config").Data); diff != "" {
				t.Errorf("configuration (-before +after the loss): %s", diff)
			}
			if !slices.Contains(r.apiWrites, "create *v1.Service my-mm2-mirrormaker2-api") || len(r.writes) > 0 {
				t.Errorf("sent %v; the Service is lost, or connectors were changed", r.writes)
			}
		})
	}
}

// TestKindRestoresAnEditedPodSet checks that neither an edited selector nor an edited entry stays.
func TestKindRestoresAnEditedPodSet(t *testing.T) {
	for name, edit := range map[string]func(s *corev1beta2.StrimziPodSet){
		"selector": func(s *corev1beta2.StrimziPodSet) { s.Spec.Selector.MatchLabels["team"] = "a" },
		"entry": func(s *corev1beta2.StrimziPodSet) {
			s.Spec.Pods[0].Raw = []byte(strings.ReplaceAll(string(s.Spec.Pods[0].Raw), "connect-distributed.sh", "connect-standalone.sh"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.until("that all is settled", r.settled)
			read := func() *corev1beta2.StrimziPodSet {
				s := &corev1beta2.StrimziPodSet{}
				r.must(r.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "my-mm2-mirrormaker2"}, s))
				return s
			}
			before, containers := read(), r.containers
			edited := before.DeepCopy()
			edit(edited)
			r.must(r.client.Update(t.Context(), edited))
			for range 10 {
				r.step()
			}
			if diff := cmp.Diff(before.Spec, read().Spec); diff != "" {
				t.Errorf("spec of the set (-before +10 s after the edit): %s", diff)
			}
			if r.containers != containers {
				t.Errorf("%d containers were started", r.containers-containers)
			}
			r.apiWrites = nil
			for range 10 {
				r.step()
			}
			if len(r.apiWrites) > 0 {
				t.Errorf("wrote %v", r.apiWrites)
			}
		})
	}
}

// entries returns the entries of the pod set.
func (r *rig) entries() []string {
	r.t.Helper()
	set := &corev1beta2.StrimziPodSet{}
	r.must(r.client.Get(r.t.Context(), client.ObjectKey{Namespace: "default", Name: "my-mm2-mirrormaker2"}, set))
	var out []string
	for i := range set.Spec.Pods {
		out = append(out, string(set.Spec.Pods[i].Raw))
	}
	return out
}

// TestKindWaitsForTheDisruptionBudget checks that a ready worker is replaced only while the disruption budget permits its eviction.
func TestKindWaitsForTheDisruptionBudget(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	strict := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "strict", Namespace: "default"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: new(intstr.FromInt32(2)), Selector: &metav1.LabelSelector{},
	}}
	r.must(r.server.Put(strict))
	before := r.workers()
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Version = "4.1.1" })
	r.until("that the refusal is shown", func() bool { return strings.Contains(r.unready(), "disruption budget") })
	for range 60 {
		r.step()
	}
	if diff := cmp.Diff(before, r.workers()); diff != "" || r.containers != 2 {
		t.Errorf("a worker was taken although the budget forbids it: %s", diff)
	}
	r.must(r.client.Delete(t.Context(), strict))
	r.until("that all is settled", func() bool { return r.settled() && r.containers == 4 })
}

// TestKindRepairsWhilePaused checks that lost workers of a paused resource are created again as they last ran, and that a change of the spec
// waits until the resource is resumed.
func TestKindRepairsWhilePaused(t *testing.T) {
	r := newRig(t)
	r.until("that all is settled", r.settled)
	before := r.workers()
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) {
		m.Annotations = map[string]string{"strimzi.io/pause-reconciliation": "true"}
	})
	r.step()
	r.lose()
	for range 20 {
		r.step()
	}
	if diff := cmp.Diff(before, r.workers()); diff != "" {
		t.Errorf("workers (-before +after the loss): %s", diff)
	}
	if !slices.ContainsFunc(r.apiWrites, func(w string) bool { return w == "create *v1.Service my-mm2-mirrormaker2-api" }) {
		t.Error("the Service is lost")
	}

	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Spec.Version, m.Spec.Replicas = "4.1.1", new(int32(1)) })
	for range 20 {
		r.step()
	}
	if diff := cmp.Diff(before, r.workers()); diff != "" {
		t.Errorf("a change of a paused resource was carried out: %s", diff)
	}
	r.lose()
	for range 20 {
		r.step()
	}
	if got := r.workers(); len(got) > 0 {
		t.Errorf("workers that may differ from those that were lost: %v", got)
	}
	r.edit(func(m *kafkav1beta2.KafkaMirrorMaker2) { m.Annotations = nil })
	r.until("that the change is carried out", func() bool {
		return r.settled() && cmp.Equal(map[string]string{"my-mm2-mirrormaker2-0": "4.1.1"}, r.workers())
	})
}
