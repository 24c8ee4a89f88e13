package admission_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/detent-dev/detent/crds"
	"github.com/detent-dev/detent/crds/admission"
)

const (
	upstream = "../../test/testdata/upstream/strimzi"
	mirrors  = upstream + "/mirror-maker"
	ours     = "../../examples/kafka"
	ourMM2   = "../../examples/mirrormaker2"
)

func schemas(t *testing.T) *admission.Schemas {
	t.Helper()
	definitions, err := crds.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := admission.New(definitions)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func TestCreateAcceptsExamples(t *testing.T) {
	schemas := schemas(t)
	want := map[string]int{
		upstream + "/v1/kafka-ephemeral.yaml":                                    3,
		upstream + "/v1/kafka-jbod.yaml":                                         3,
		upstream + "/v1/kafka-persistent.yaml":                                   3,
		upstream + "/v1/kafka-single-node.yaml":                                  2,
		upstream + "/v1/kafka-with-dual-role-nodes.yaml":                         2,
		upstream + "/v1beta2/kafka-ephemeral.yaml":                               3,
		upstream + "/v1beta2/kafka-jbod.yaml":                                    3,
		upstream + "/v1beta2/kafka-persistent.yaml":                              3,
		upstream + "/v1beta2/kafka-single-node.yaml":                             2,
		upstream + "/v1beta2/kafka-with-dual-role-nodes.yaml":                    2,
		mirrors + "/v1/kafka-mirror-maker-2.yaml":                                1,
		mirrors + "/v1/kafka-mirror-maker-2-custom-replication-policy.yaml":      1,
		mirrors + "/v1/kafka-mirror-maker-2-sync-groups.yaml":                    1,
		mirrors + "/v1/kafka-mirror-maker-2-tls.yaml":                            1,
		mirrors + "/v1beta2/kafka-mirror-maker-2.yaml":                           1,
		mirrors + "/v1beta2/kafka-mirror-maker-2-custom-replication-policy.yaml": 1,
		mirrors + "/v1beta2/kafka-mirror-maker-2-sync-groups.yaml":               1,
		mirrors + "/v1beta2/kafka-mirror-maker-2-tls.yaml":                       1,
		ours + "/separate-roles.yaml":                                            3,
		ours + "/single-node.yaml":                                               2,
		ourMM2 + "/mirror.yaml":                                                  1,
	}
	var found []string
	for _, folder := range []string{upstream + "/v1", upstream + "/v1beta2", mirrors + "/v1", mirrors + "/v1beta2", ours, ourMM2} {
		files, err := filepath.Glob(folder + "/*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, files...)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(slices.Values(found))); diff != "" {
		t.Errorf("example files: %s", diff)
	}
	for path, documents := range want {
		t.Run(filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path)), func(t *testing.T) {
			resources := readFile(t, path)
			if len(resources) != documents {
				t.Errorf("%d resources, want %d", len(resources), documents)
			}
			for _, resource := range resources {
				for _, err := range schemas.Create(t.Context(), resource) {
					t.Errorf("%s %s: %v", resource.GetKind(), resource.GetName(), err)
				}
			}
		})
	}
}

// An edited example would not prove that the original is accepted.
func TestCreateExamplesAreUpstreamVerbatim(t *testing.T) {
	sums, err := os.ReadFile(upstream + "/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(sums)), "\n")
	if len(lines) != 18 {
		t.Errorf("%d sums, want 18", len(lines))
	}
	for _, line := range lines {
		want, name, _ := strings.Cut(line, "  ")
		text, err := os.ReadFile(filepath.Join(upstream, name))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s was changed: its sum is %s, want %s", name, got, want)
		}
	}
}

func readFile(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, text)
}

func read(t *testing.T, text []byte) []*unstructured.Unstructured {
	t.Helper()
	var resources []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		resource := &unstructured.Unstructured{}
		err := decoder.Decode(resource)
		if errors.Is(err, io.EOF) {
			return resources
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(resource.Object) > 0 {
			resources = append(resources, resource)
		}
	}
}
