package images

import (
	"archive/tar"
	"context"
	"embed"
	"maps"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/detent-dev/detent/test/cluster/machine"
)

// cephFiles are the files of a Ceph image that are not in Debian's packages.
//
//go:embed ceph
var cephFiles embed.FS

// cephRelease is a Ceph release in a suite of Debian. Each suite has one; upgrades lead from one suite to the next.
type cephRelease struct {
	version, suite string
	// packaged is Debian's version. If it ends with a star, later revisions of the package also match.
	packaged string
	// files of cephFiles that this release needs, by their names in the image.
	files map[string]string
	// variants have programs of their own in place of some of the release.
	variants []cephVariant
}

// cephVariant is an image of a release in which scripts precede programs.
type cephVariant struct {
	name, tag string
	// scripts by the name of the program.
	scripts map[string]string
}

func cephReleases() []cephRelease {
	return []cephRelease{
		//  A later revision is listed in the suite, but cannot be downloaded any more.
		{version: "14.2.21", suite: "bullseye", packaged: "14.2.21-1"},
		{version: "16.2.15", suite: "bookworm", packaged: "16.2.15+ds-0*"},
		//  A file here precedes Python's own directories, which ceph-mgr searches afterwards.
		{version: "18.2.7", suite: "trixie", packaged: "18.2.7+ds-1*", files: map[string]string{"usr/share/ceph/mgr/bcrypt.py": "ceph/bcrypt.py"}, variants: cephVariants()},
	}
}

// cephVariants are builds that scenarios need and Debian does not have: one whose monitors do not start, and one of an unknown release.
func cephVariants() []cephVariant {
	return []cephVariant{
		{name: "broken", tag: "v18.2.7-broken", scripts: map[string]string{"ceph-mon": "echo 'this build does not start' >&2; exit 1"}},
		{name: "unknown", tag: "v21.0.0", scripts: map[string]string{"ceph": "echo 'ceph version 21.0.0 (" + strings.Repeat("0", 40) + ") umbrella (stable)'"}},
	}
}

const cephRepository = "quay.io/ceph/ceph"

// cephUser is the user and group id of the daemons in the public image. Debian's is 64045; with this one a pod template works
// with both images.
const cephUser = "167"

// cephRecipes are the recipes of all releases. An image runs every daemon, and the tools.
func cephRecipes() []Recipe {
	var list []Recipe
	for _, r := range cephReleases() {
		list = append(list, Recipe{Name: "ceph-" + r.version, Ref: cephRepository + ":v" + r.version, make: r.image})
		for _, v := range r.variants {
			list = append(list, Recipe{Name: "ceph-" + r.version + "-" + v.name, Ref: cephRepository + ":" + v.tag, make: func(ctx context.Context, k *Kitchen) (v1.Image, error) {
				return r.variant(ctx, k, &v)
			}})
		}
	}
	return list
}

func (r *cephRelease) image(ctx context.Context, k *Kitchen) (v1.Image, error) {
	return r.with(ctx, k)
}

// variant adds the scripts to the image of the release, in a directory that precedes those of the packages.
func (r *cephRelease) variant(ctx context.Context, k *Kitchen, v *cephVariant) (v1.Image, error) {
	l, err := v.layer(k.Store)
	if err != nil {
		return nil, err
	}
	return r.with(ctx, k, l)
}

// with returns the image of the release with more layers.
func (r *cephRelease) with(ctx context.Context, k *Kitchen, more ...v1.Layer) (v1.Image, error) {
	root, err := r.root().layer(ctx, k)
	if err != nil {
		return nil, err
	}
	layers := []v1.Layer{root}
	if len(r.files) > 0 {
		l, err := r.filesLayer(k.Store)
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return assemble(v1.Config{
		WorkingDir: "/",
		Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "CEPH_VERSION=" + r.version},
		Cmd:        []string{"/bin/bash"},
	}, append(layers, more...)...)
}

// root returns the Debian root with the release's packages.
func (r *cephRelease) root() *debianRoot {
	d := &debianRoot{
		suite: r.suite, others: []string{"curl"},
		pins:   map[string]string{"src:ceph": r.packaged},
		users:  map[string]string{"ceph": cephUser},
		python: []string{"/usr/lib/python3", "/usr/lib/python3.*", "/usr/share/ceph/mgr"},
	}
	for _, name := range []string{"ceph-common", "ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "radosgw"} {
		d.packages = append(d.packages, machine.Package{Name: name, Version: strings.TrimSuffix(r.packaged, "*")})
	}
	return d
}

func (r *cephRelease) filesLayer(s Store) (v1.Layer, error) {
	var files []file
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		content, err := cephFiles.ReadFile(r.files[name])
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, mode: 0o644, content: content})
	}
	return s.Layer("ceph files "+sumFiles(files), func(w *tar.Writer) error { return writeFiles(w, files) })
}

func (v *cephVariant) layer(s Store) (v1.Layer, error) {
	var files []file
	for _, name := range slices.Sorted(maps.Keys(v.scripts)) {
		files = append(files, file{name: "usr/local/bin/" + name, mode: 0o755, content: []byte("#!/bin/sh\n" + v.scripts[name] + "\n")})
	}
	return s.Layer("ceph scripts "+sumFiles(files), func(w *tar.Writer) error { return writeFiles(w, files) })
}
