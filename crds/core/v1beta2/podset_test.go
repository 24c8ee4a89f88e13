package v1beta2_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/yaml"

	"github.com/detent-dev/detent/crds/core/v1beta2"
)

func pod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "orders-brokers-0", Annotations: map[string]string{"b": "2", "a": "1"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "kafka", Image: "apache/kafka:4.1.1"}}},
	}
}

func TestNewPodEntryKeepsThePod(t *testing.T) {
	entry, err := v1beta2.NewPodEntry(pod())
	if err != nil {
		t.Fatal(err)
	}
	set := &v1beta2.StrimziPodSet{Spec: v1beta2.StrimziPodSetSpec{Pods: []v1beta2.PodEntry{entry}}}
	text, err := yaml.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	read := &v1beta2.StrimziPodSet{}
	if err := yaml.UnmarshalStrict(text, read); err != nil {
		t.Fatal(err)
	}
	got, err := read.Spec.Pods[0].Pod()
	if err != nil {
		t.Fatal(err)
	}
	want := pod()
	want.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNewPodEntryOfEqualPodsIsEqual(t *testing.T) {
	first, err := v1beta2.NewPodEntry(pod())
	if err != nil {
		t.Fatal(err)
	}
	second, err := v1beta2.NewPodEntry(pod())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first.Raw), string(second.Raw)); diff != "" {
		t.Error(diff)
	}
	changed := pod()
	changed.Spec.Containers[0].Image = "apache/kafka:4.2.0"
	third, err := v1beta2.NewPodEntry(changed)
	if err != nil {
		t.Fatal(err)
	}
	if string(first.Raw) == string(third.Raw) {
		t.Error("another image gives the same entry")
	}
}

// The revision of a pod is a hash of its entry: an entry that changed on its way through an API server would restart the pod.
func TestPodEntryBytesSurviveAnAPIServer(t *testing.T) {
	given := pod()
	given.Spec.Containers[0].Args = []string{"a<b", "c&d"}
	given.Status.Phase = corev1.PodRunning
	entry, err := v1beta2.NewPodEntry(given)
	if err != nil {
		t.Fatal(err)
	}
	set := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "core.strimzi.io/v1beta2", "kind": "StrimziPodSet"}}
	content := map[string]any{}
	if err := json.Unmarshal(entry.Raw, &content); err != nil {
		t.Fatal(err)
	}
	set.Object["spec"] = map[string]any{"pods": []any{content}}
	stored, err := k8sruntime.Encode(unstructured.UnstructuredJSONScheme, set)
	if err != nil {
		t.Fatal(err)
	}
	read := &v1beta2.StrimziPodSet{}
	if err := json.Unmarshal(stored, read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(entry.Raw), string(read.Spec.Pods[0].Raw)); diff != "" {
		t.Error(diff)
	}
	if _, ok := content["status"]; ok {
		t.Error("the entry has a status")
	}
}

func TestNewStampedPodEntry(t *testing.T) {
	for name, annotations := range map[string]map[string]string{"the only one": nil, "one more": {"a": "b"}} {
		t.Run(name, func(t *testing.T) {
			given := pod()
			given.Annotations = annotations
			bare, err := v1beta2.NewPodEntry(given)
			if err != nil {
				t.Fatal(err)
			}
			got, err := v1beta2.NewStampedPodEntry(given, "stamp", func(saw v1beta2.PodEntry) string {
				if diff := cmp.Diff(string(bare.Raw), string(saw.Raw)); diff != "" {
					t.Error(diff)
				}
				return "1234"
			})
			if err != nil {
				t.Fatal(err)
			}
			metav1.SetMetaDataAnnotation(&given.ObjectMeta, "stamp", "1234")
			want, err := v1beta2.NewPodEntry(given)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want.Raw), string(got.Raw)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNewPodEntryDoesNotModifyThePod(t *testing.T) {
	given := pod()
	if _, err := v1beta2.NewPodEntry(given); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pod(), given); diff != "" {
		t.Error(diff)
	}
}

func TestPodEntryPodRejectsInvalidEntries(t *testing.T) {
	for name, raw := range map[string]string{"nothing": ``, "a list": `[]`, "a wrong type": `{"spec": "kafka"}`, "no name": `{"kind": "Pod"}`} {
		t.Run(name, func(t *testing.T) {
			entry := v1beta2.PodEntry{RawExtension: k8sruntime.RawExtension{Raw: []byte(raw)}}
			if pod, err := entry.Pod(); err == nil {
				t.Errorf("read as %v, want an error", pod)
			}
		})
	}
}

func TestAddToSchemeRegistersThePodSet(t *testing.T) {
	scheme := k8sruntime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{v1beta2.KindStrimziPodSet, v1beta2.KindStrimziPodSet + "List"} {
		if _, err := scheme.New(v1beta2.GroupVersion().WithKind(kind)); err != nil {
			t.Error(err)
		}
	}
}

// A changed revision restarts a pod, so that the bytes may not depend on how they are made.
func TestNewPodEntryBytesAreThoseOfAConversionToMaps(t *testing.T) {
	const pods = 300
	random := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, func(serializer.CodecFactory) []any {
		return []any{
			func(i *intstr.IntOrString, c randfill.Continue) {
				if *i = intstr.FromInt32(c.Int31()); c.Bool() {
					*i = intstr.FromString(c.String(0))
				}
			},
			func(m *map[string]string, c randfill.Continue) {
				*m = map[string]string{c.String(0): c.String(0), "a\\b": `"c\"`, "a<b": "&\u2028", "a": "", "": "\x00"}
			},
		}
	}), source{rand.NewPCG(1, 2)}, serializer.NewCodecFactory(k8sruntime.NewScheme()))
	for range pods {
		given := &corev1.Pod{}
		random.Fill(given)
		given.ManagedFields = nil // raw JSON; no entry has them
		content, err := k8sruntime.DefaultUnstructuredConverter.ToUnstructured(given)
		if err != nil {
			t.Fatal(err)
		}
		content["apiVersion"], content["kind"] = "v1", "Pod"
		delete(content, "status")
		want, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		got, err := v1beta2.NewPodEntry(given)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got.Raw)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// source of random values for a fuzzer, which takes one of another version.
type source struct{ *rand.PCG }

func (s source) Int63() int64 { return int64(s.Uint64() >> 1) } //nolint:gosec // one bit less fits

func (source) Seed(int64) {}
