package objects_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/internal/objects"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		content string
		want    []string // source: kind/name
		wantErr string
	}{
		"one document": {
			content: "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
			want:    []string{"f.yaml, document 1: Pod/a"},
		},
		"several documents, empty ones and comments between": {
			content: "---\n# a comment\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\n---\n",
			want:    []string{"f.yaml, document 1: Pod/a", "f.yaml, document 2: Pod/b"},
		},
		"a list as kubectl prints it": {
			content: `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}]}`,
			want:    []string{"f.yaml, document 1, item 1: Pod/a", "f.yaml, document 1, item 2: ConfigMap/b"},
		},
		"a list of one kind as an API server answers it": {
			content: "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n",
			want:    []string{"f.yaml, document 1, item 1: Pod/a"},
		},
		"an empty list": {content: "apiVersion: v1\nkind: List\nitems: []\n"},
		"nothing":       {content: ""},
		"a kind that ends in List and is none": {
			content: "apiVersion: example.org/v1\nkind: PriceList\nmetadata: {name: a}\n",
			want:    []string{"f.yaml, document 1: PriceList/a"},
		},
		"no YAML": {
			content: "a: b: c\n",
			wantErr: "f.yaml, document 1: mapping values are not allowed in this context",
		},
		"a name twice": {
			content: "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nkind: Pod\n",
			wantErr: `f.yaml, document 1: line 4: key "kind" already set in map`,
		},
		"a name twice, in a later document": {
			content: "---\n# first\nkind: Pod\napiVersion: v1\n---\n\nkind: Pod\nkind: Pod\nkind: Pod\n",
			want:    []string{"f.yaml, document 1: Pod/"},
			wantErr: `f.yaml, document 2: line 8: key "kind" already set in map; line 9: key "kind" already set in map`,
		},
		"a name twice, with line ends of Windows": {
			content: "kind: Pod\r\napiVersion: v1\r\n---\r\nkind: Pod\r\nkind: Pod\r\n",
			want:    []string{"f.yaml, document 1: Pod/"},
			wantErr: `f.yaml, document 2: line 2 of the document: key "kind" already set in map`,
		},
		"what comes after a broken document is still read": {
			content: "[1]\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\n---\nkind: Pod\n---\napiVersion: a/b/c\nkind: Pod\n",
			want:    []string{"f.yaml, document 2: Pod/b"},
			wantErr: "f.yaml, document 1: not a resource: write apiVersion, kind and metadata\n" +
				"f.yaml, document 3: apiVersion: is missing: a resource must have apiVersion and kind\n" +
				"f.yaml, document 4: apiVersion: unexpected GroupVersion string: a/b/c",
		},
		"an item that is none": {
			content: "apiVersion: v1\nkind: List\nitems: [3, {kind: Pod, apiVersion: v1, metadata: {name: a}}, {apiVersion: v1}]\n",
			want:    []string{"f.yaml, document 1, item 2: Pod/a"},
			wantErr: "f.yaml, document 1, item 1: not a resource: write apiVersion, kind and metadata\n" +
				"f.yaml, document 1, item 3: kind: is missing: a resource must have apiVersion and kind",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found, err := objects.Parse("f.yaml", []byte(tc.content))
			if diff := cmp.Diff(tc.wantErr, wordsOf(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, namesOf(found)); diff != "" {
				t.Errorf("manifests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseKeepsWholeNumbers(t *testing.T) {
	found, err := objects.Parse("f", []byte("apiVersion: v1\nkind: Pod\nspec: {big: 9007199254740993, small: 0.5}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"big": int64(9007199254740993), "small": 0.5}
	if diff := cmp.Diff(want, found[0].Object.Object["spec"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadKeepsTheOrderOfFilesAndStandardInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pods.yaml")
	if err := os.WriteFile(file, []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stdin := strings.NewReader("apiVersion: v1\nkind: Pod\nmetadata: {name: b}\n")
	found, err := objects.Read([]string{"-", file, filepath.Join(t.TempDir(), "none.yaml")}, stdin)
	if !strings.Contains(wordsOf(err), "none.yaml: no such file") {
		t.Errorf("error %v", err)
	}
	want := []string{"standard input, document 1: Pod/b", file + ", document 1: Pod/a"}
	if diff := cmp.Diff(want, namesOf(found)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadWantsFiles(t *testing.T) {
	folder := t.TempDir()
	_, err := objects.Read([]string{folder}, nil)
	if want := "reading resources: " + folder + " is a folder: name its files"; wordsOf(err) != want {
		t.Errorf("error %q, want %q", wordsOf(err), want)
	}
}

func namesOf(found []objects.Manifest) []string {
	var out []string
	for _, m := range found {
		out = append(out, m.Source.String()+": "+m.Object.GetKind()+"/"+m.Object.GetName())
	}
	return out
}

func wordsOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestOverKeepsServerSideMetadata(t *testing.T) {
	read := func(content string) []objects.Manifest {
		found, err := objects.Parse("f", []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	there := read("apiVersion: a/v1\nkind: K\nmetadata: {name: x, namespace: prod, uid: u, generation: 7}\nspec: {old: 1}\nstatus: {seen: 1}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: prod}\n")
	changed := read("apiVersion: a/v2\nkind: K\nmetadata: {name: x}\nspec: {new: 2}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: z2}\n")
	got := objects.Over(there, changed, "prod")
	if diff := cmp.Diff([]string{"f, document 1: K/x", "f, document 2: Pod/x", "f, document 2: Pod/z2"}, namesOf(got)); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	want := map[string]any{
		"apiVersion": "a/v2", "kind": "K", "spec": map[string]any{"new": int64(2)}, "status": map[string]any{"seen": int64(1)},
		"metadata": map[string]any{"name": "x", "namespace": "prod", "uid": "u", "generation": int64(7)},
	}
	if diff := cmp.Diff(want, got[0].Object.Object); diff != "" {
		t.Errorf("the changed one (-want +got):\n%s", diff)
	}
	if _, still := there[0].Object.Object["spec"].(map[string]any)["old"]; !still {
		t.Error("what there was is changed")
	}
}
