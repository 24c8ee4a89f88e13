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
}

func cephReleases() []cephRelease {
	return []cephRelease{
		//  A later revision is listed in the suite, but cannot be downloaded any more.
		{version: "14.2.21", suite: "bullseye", packaged: "14.2.21-1"},
		{version: "16.2.15", suite: "bookworm", packaged: "16.2.15+ds-0*"},
		//  A file here precedes Python's own directories, which ceph-mgr searches afterwards.
		{version: "18.2.7", suite: "trixie", packaged: "18.2.7+ds-1*", files: map[string]string{"usr/share/ceph/mgr/bcrypt.py": "ceph/bcrypt.py"}},
	}
}

// cephUser is the user and group id of the daemons in the public image. Debian's is 64045; with this one a pod template works
// with both images.
const cephUser = "167"

// cephRecipes are the recipes of all releases. An image runs every daemon, and the tools.
func cephRecipes() []Recipe {
	var list []Recipe
	for _, r := range cephReleases() {
		list = append(list, Recipe{Name: "ceph-" + r.version, Ref: "quay.io/ceph/ceph:v" + r.version, make: r.image})
	}
	return list
}

func (r *cephRelease) image(ctx context.Context, k *Kitchen) (v1.Image, error) {
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
	}, layers...)
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
