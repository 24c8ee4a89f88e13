package kafka_test

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// loadCases reads a suite of test/testdata/cases into cases of type T. It fails the test if
// the suite is empty.
func loadCases[T any](t *testing.T, file string) []T {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "test", "testdata", "cases", file))
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		ID    string `json:"id"`
		About string `json:"about"`
		Cases []T    `json:"cases"`
	}
	if err := yaml.UnmarshalStrict(raw, &suite); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	if len(suite.Cases) == 0 {
		t.Fatalf("%s holds no cases", file)
	}
	return suite.Cases
}
