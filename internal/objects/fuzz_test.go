package objects_test

import (
	"testing"

	"github.com/detent-dev/detent/internal/objects"
)

// Any file may be given. Each document of it is a resource with its source, or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte("---\n# a comment\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\nkind: Pod\n"))
	f.Add([]byte(`{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod"}, null, 3]}`))
	f.Add([]byte("apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n- &a [*a]\n"))
	f.Add([]byte("a: &a [*a, *a]\nb: !!binary x\n? {}\n: 1e999\n"))
	f.Add([]byte("apiVersion: 3\nkind: []\nmetadata: x\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		found, err := objects.Parse("f", content)
		if err != nil && err.Error() == "" {
			t.Fatal("an error without words")
		}
		for i, m := range found {
			if m.Object.GetKind() == "" || m.Object.GetAPIVersion() == "" || m.Document < 1 {
				t.Fatalf("resource %d at %s: %v", i, m.Source, m.Object.Object)
			}
		}
		objects.Over(found, found, "n")
	})
}
