package images

import (
	"archive/tar"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnpackExtractsOneFolder(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	l, err := s.Layer("key", func(w *tar.Writer) error {
		return writeFiles(w, []file{
			{name: "opt/libs/", mode: 0o755}, {name: "opt/libs/a.jar", mode: 0o644, content: []byte("a")},
			{name: "opt/libs/deep/b.jar", mode: 0o644, content: []byte("b")}, {name: "opt/other/c.jar", mode: 0o644, content: []byte("c")},
			{name: "opt/libs/..", mode: 0o644, content: []byte("d")}, {name: "opt/libs/e.jar", link: "a.jar"},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "lib")
	if err := unpack(l, "opt/libs/", dir); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = string(data)
	}
	if diff := cmp.Diff(map[string]string{"a.jar": "a"}, got); diff != "" {
		t.Errorf("unpacked (-want +got):\n%s", diff)
	}
}
