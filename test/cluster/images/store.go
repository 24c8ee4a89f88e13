// Package images builds container images from packages, without a container engine and without a registry to pull from, and
// stores them in an OCI layout. Images are identified by content: equal inputs give the same image, and an existing image
// is not built again.
package images

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/match"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// refAnnotation is the annotation with the name of an image in a layout (OCI image-spec, annotations).
const refAnnotation = "org.opencontainers.image.ref.name"

// Store stores images in a directory.
type Store struct{ Dir string }

// DefaultStore returns the store that all commands share, below the user's cache directory.
func DefaultStore() (Store, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return Store{}, fmt.Errorf("finding the cache directory: %w; set XDG_CACHE_HOME", err)
	}
	return Store{Dir: filepath.Join(cache, "detent", "images")}, nil
}

func (s Store) path(elem ...string) string { return filepath.Join(append([]string{s.Dir}, elem...)...) }

// Blobs is the directory of the content, by algorithm and digest.
func (s Store) Blobs() string { return s.path("layout", "blobs") }

// open opens the layout. It creates an empty one if there is none.
func (s Store) open() (layout.Path, error) {
	if p, err := layout.FromPath(s.path("layout")); err == nil {
		return p, nil
	}
	if err := os.MkdirAll(s.path("layout", "blobs", "sha256"), 0o755); err != nil {
		return "", err
	}
	for name, content := range map[string]string{
		"oci-layout": `{"imageLayoutVersion":"1.0.0"}`,
		"index.json": `{"schemaVersion":2,"mediaType":"` + string(types.OCIImageIndex) + `","manifests":[]}`,
	} {
		if err := os.WriteFile(s.path("layout", name), []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	return layout.FromPath(s.path("layout"))
}

// Image is an image in the store with its name.
type Image struct {
	Ref      string
	Manifest []byte
	Type     string
}

// Images lists the images in the store.
func (s Store) Images() ([]Image, error) {
	p, err := s.open()
	if err != nil {
		return nil, err
	}
	index, err := p.ImageIndex()
	if err != nil {
		return nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var out []Image
	for i := range manifest.Manifests {
		d := &manifest.Manifests[i]
		data, err := p.Bytes(d.Digest)
		if err != nil {
			return nil, fmt.Errorf("reading image %s: %w", d.Annotations[refAnnotation], err)
		}
		out = append(out, Image{Ref: d.Annotations[refAnnotation], Manifest: data, Type: string(d.MediaType)})
	}
	return out, nil
}

// Put stores an image under a name, replacing the previous image of that name, and reports whether that changed anything.
func (s Store) Put(ref string, image v1.Image) (changed bool, err error) {
	p, err := s.open()
	if err != nil {
		return false, err
	}
	digest, err := image.Digest()
	if err != nil {
		return false, err
	}
	held, err := s.change()
	if err != nil {
		return false, err
	}
	defer held.Close()
	index, err := p.ImageIndex()
	if err != nil {
		return false, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return false, err
	}
	for i := range manifest.Manifests {
		if d := &manifest.Manifests[i]; d.Annotations[refAnnotation] == ref && d.Digest == digest {
			return false, nil
		}
	}
	return true, p.ReplaceImage(image, match.Annotation(refAnnotation, ref), layout.WithAnnotations(map[string]string{refAnnotation: ref}))
}

// Layer returns the layer with the key. If there is none, it builds one from what write adds to the archive. The key must
// change with everything that the content depends on. Layers are not compressed, because they never leave this machine.
func (s Store) Layer(key string, write func(*tar.Writer) error) (v1.Layer, error) {
	if l, err := s.kept(key); err == nil {
		return l, nil
	}
	if _, err := s.open(); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(s.Blobs(), "layer-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	hash := sha256.New()
	counted := &counter{w: io.MultiWriter(f, hash)}
	w := tar.NewWriter(counted)
	if err := errors.Join(write(w), w.Close(), f.Close()); err != nil {
		return nil, fmt.Errorf("writing a layer: %w", err)
	}
	l := &layer{digest: v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(hash.Sum(nil))}, size: counted.n}
	l.file = filepath.Join(s.Blobs(), l.digest.Algorithm, l.digest.Hex)
	if err := errors.Join(os.Chmod(f.Name(), 0o644), os.Rename(f.Name(), l.file), os.MkdirAll(s.path("layers"), 0o755)); err != nil {
		return nil, err
	}
	return l, os.WriteFile(s.path("layers", fileKey(key)), []byte(l.digest.Hex), 0o644)
}

// kept returns an existing layer, or an error if there is none with the key.
func (s Store) kept(key string) (v1.Layer, error) {
	digest, err := os.ReadFile(s.path("layers", fileKey(key)))
	if err != nil {
		return nil, err
	}
	l := &layer{digest: v1.Hash{Algorithm: "sha256", Hex: string(digest)}}
	l.file = filepath.Join(s.Blobs(), l.digest.Algorithm, l.digest.Hex)
	info, err := os.Stat(l.file)
	if err != nil {
		return nil, err
	}
	l.size = info.Size()
	return l, nil
}

func fileKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// Prune removes content that no image uses, and temporary files of commands that were killed. It does nothing while another
// command builds images, because then it is unknown what is unused; that command prunes when it is finished.
func (s Store) Prune() error {
	held, err := s.alone()
	if err != nil || held == nil {
		return err
	}
	defer held.Close()
	for _, pattern := range []string{s.path("root-*"), s.path("jars-*"), filepath.Join(s.Blobs(), "layer-*")} {
		left, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, path := range left {
			if err := removeRoot(path); err != nil {
				return err
			}
		}
	}
	p, err := s.open()
	if err != nil {
		return err
	}
	unused, err := p.GarbageCollect()
	if err != nil {
		return err
	}
	for _, h := range unused {
		if err := os.Remove(filepath.Join(s.Blobs(), h.Algorithm, h.Hex)); err != nil {
			return err
		}
	}
	return nil
}

// layer is an archive in the store.
type layer struct {
	digest v1.Hash
	size   int64
	file   string
}

func (l *layer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l *layer) DiffID() (v1.Hash, error)             { return l.digest, nil }
func (l *layer) Compressed() (io.ReadCloser, error)   { return os.Open(l.file) }
func (l *layer) Uncompressed() (io.ReadCloser, error) { return os.Open(l.file) }
func (l *layer) Size() (int64, error)                 { return l.size, nil }
func (l *layer) MediaType() (types.MediaType, error)  { return types.OCIUncompressedLayer, nil }

// counter counts the bytes written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
