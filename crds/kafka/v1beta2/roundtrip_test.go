package v1beta2_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"

	v1 "github.com/detent-dev/detent/crds/kafka/v1"
	"github.com/detent-dev/detent/crds/kafka/v1beta2"
	lifecyclev1 "github.com/detent-dev/detent/crds/lifecycle/v1"
)

// driven is what both kinds have in common for the code that writes their status.
type driven interface {
	k8sruntime.Object
	metav1.Object
	LifecycleStatus() *lifecyclev1.Status
}

func scheme(t *testing.T) *k8sruntime.Scheme {
	t.Helper()
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{v1beta2.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// Decoding a resource into its Go type and encoding it again loses nothing: a name that the type lacks, or a zero that is encoded
// although the resource did not set it, fails the test.
func TestKafkaExamplesSurviveTheGoTypes(t *testing.T) {
	decoder := serializer.NewCodecFactory(scheme(t), serializer.EnableStrict).UniversalDeserializer()
	files, err := filepath.Glob("../../../test/testdata/upstream/strimzi/*/*.yaml")
	if err != nil || len(files) != 10 {
		t.Fatalf("%d upstream examples, want 10: %v", len(files), err)
	}
	for _, file := range append(files, "testdata/full.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			object, kind, err := decoder.Decode([]byte(document), nil, nil)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file)+"/"+kind.Kind, func(t *testing.T) {
				want := map[string]any{}
				if err := yaml.Unmarshal([]byte(document), &want); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, throughJSON(t, object)); diff != "" {
					t.Error(diff)
				}
				copied := object.DeepCopyObject()
				if diff := cmp.Diff(object, copied); diff != "" {
					t.Errorf("deep copy: %s", diff)
				}
				content, err := k8sruntime.DefaultUnstructuredConverter.ToUnstructured(object)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, throughJSON(t, &unstructured.Unstructured{Object: content})); diff != "" {
					t.Errorf("as unstructured: %s", diff)
				}
			})
		}
	}
}

func throughJSON(t *testing.T, object any) map[string]any {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]any{}
	if err := yaml.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	return content
}

func TestLifecycleStatusPointsIntoTheResource(t *testing.T) {
	for name, object := range map[string]driven{
		"v1beta2 Kafka":         &v1beta2.Kafka{},
		"v1beta2 KafkaNodePool": &v1beta2.KafkaNodePool{},
		"v1 Kafka":              &v1.Kafka{},
		"v1 KafkaNodePool":      &v1.KafkaNodePool{},
	} {
		t.Run(name, func(t *testing.T) {
			object.LifecycleStatus().ObservedGeneration = 7
			status, _ := throughJSON(t, object)["status"].(map[string]any)
			if got := status["observedGeneration"]; got != float64(7) {
				t.Errorf("status.observedGeneration %v, want 7", got)
			}
		})
	}
}

func TestAddToSchemeOfBothVersions(t *testing.T) {
	scheme := scheme(t)
	for _, kind := range []string{v1beta2.KindKafka, v1beta2.KindKafkaNodePool} {
		for _, version := range []string{"v1beta2", "v1"} {
			for _, suffix := range []string{"", "List"} {
				group := v1beta2.GroupVersion()
				group.Version = version
				if _, err := scheme.New(group.WithKind(kind + suffix)); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
