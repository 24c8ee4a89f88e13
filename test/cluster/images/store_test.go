package images

import (
	"archive/tar"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func testLayer(t *testing.T, s Store, key, content string) v1.Layer {
	t.Helper()
	l, err := s.Layer(key, func(w *tar.Writer) error {
		return writeFiles(w, []file{{name: "a/", mode: 0o755}, {name: "a/b", mode: 0o600, content: []byte(content)}, {name: "c", link: "a/b"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func testImage(t *testing.T, layers ...v1.Layer) v1.Image {
	t.Helper()
	image, err := assemble(v1.Config{Entrypoint: []string{"/a/b"}, User: "7"}, layers...)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func refs(t *testing.T, s Store) []string {
	t.Helper()
	list, err := s.Images()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range list {
		out = append(out, list[i].Ref)
	}
	return out
}

func TestStoreKeepsImagesOnce(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	image := testImage(t, testLayer(t, s, "one", "text"), testLayer(t, s, "two", "more"))
	if err := validate.Image(image, validate.Fast); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false} {
		if changed, err := s.Put("x.local/y:1", image); err != nil || changed != want {
			t.Errorf("putting it for time %d changed %t (%v), want %t", i+1, changed, err, want)
		}
	}
	changed, err := s.Put("x.local/y:1", testImage(t, testLayer(t, s, "one", "text")))
	if err != nil || !changed {
		t.Errorf("another image under the name changed %t (%v)", changed, err)
	}
	if diff := cmp.Diff([]string{"x.local/y:1"}, refs(t, s)); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
}

func TestStoreBuildsLayerOncePerKey(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	first := testLayer(t, s, "key", "text")
	again, err := s.Layer("key", func(*tar.Writer) error {
		t.Error("it is made again")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	other := testLayer(t, s, "another key", "text")
	for _, l := range []v1.Layer{again, other} {
		got, _ := l.Digest()
		if want, _ := first.Digest(); got != want {
			t.Errorf("digest %s, want %s: equal content has one digest", got, want)
		}
	}
}

func TestStorePruneKeepsLayersOfImages(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	kept, unused := testLayer(t, s, "kept", "a"), testLayer(t, s, "unused", "b")
	if _, err := s.Put("x.local/y:1", testImage(t, kept)); err != nil {
		t.Fatal(err)
	}
	if err := s.Prune(); err != nil {
		t.Fatal(err)
	}
	for l, want := range map[v1.Layer]bool{kept: true, unused: false} {
		digest, _ := l.Digest()
		if _, err := os.Stat(filepath.Join(s.Blobs(), digest.Algorithm, digest.Hex)); (err == nil) != want {
			t.Errorf("layer %s: %v, want it kept: %t", digest, err, want)
		}
	}
	// A pruned layer is built again, not assumed to exist.
	again := testLayer(t, s, "unused", "b")
	if r, err := again.Uncompressed(); err != nil {
		t.Error(err)
	} else if _, err := io.Copy(io.Discard, r); err != nil {
		t.Error(err)
	}
}

func TestChoose(t *testing.T) {
	all, err := Choose(nil)
	if err != nil || len(all) != len(Recipes()) {
		t.Errorf("%d recipes of none named (%v), want all %d", len(all), err, len(Recipes()))
	}
	one, err := Choose([]string{"dns"})
	if diff := cmp.Diff([]string{"dns"}, known(one)); diff != "" || err != nil {
		t.Errorf("recipes of dns (%v):\n%s", err, diff)
	}
	if _, err := Choose([]string{"d"}); err == nil {
		t.Error("an unknown name is accepted")
	}
}

func TestStorePruneSkipsWhileImagesAreBuilt(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	l := testLayer(t, s, "of an image to come", "a")
	left := s.path("root-1")
	if err := os.MkdirAll(filepath.Join(left, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	used, err := s.use()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Prune(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.kept("of an image to come"); err != nil {
		t.Errorf("a layer was removed while images were made: %v", err)
	}
	if err := used.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Prune(); err != nil {
		t.Fatal(err)
	}
	digest, _ := l.Digest()
	for _, path := range []string{left, filepath.Join(s.Blobs(), digest.Algorithm, digest.Hex)} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there (%v)", path, err)
		}
	}
}
