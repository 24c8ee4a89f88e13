package images

import (
	"archive/tar"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCephRecipesHaveNamesOfPublicImage(t *testing.T) {
	chosen, err := Choose([]string{"ceph"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range chosen {
		got[chosen[i].Name] = chosen[i].Ref
	}
	want := map[string]string{
		"ceph-14.2.21": "quay.io/ceph/ceph:v14.2.21", "ceph-16.2.15": "quay.io/ceph/ceph:v16.2.15", "ceph-18.2.7": "quay.io/ceph/ceph:v18.2.7",
		"ceph-18.2.7-broken": "quay.io/ceph/ceph:v18.2.7-broken", "ceph-18.2.7-unknown": "quay.io/ceph/ceph:v21.0.0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// TestCephVariantsPrecedePackages looks for the scripts in the directory that the path of the image has before those of the packages.
func TestCephVariantsPrecedePackages(t *testing.T) {
	got := map[string]string{}
	for _, v := range cephVariants() {
		l, err := v.layer(Store{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		header, err := tar.NewReader(r).Next()
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		got[header.Name] = header.FileInfo().Mode().String()
	}
	want := map[string]string{"usr/local/bin/ceph-mon": "-rwxr-xr-x", "usr/local/bin/ceph": "-rwxr-xr-x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scripts with their modes (-want +got):\n%s", diff)
	}
}

func TestCephRecipesRejectOtherPackageVersions(t *testing.T) {
	releases := cephReleases()
	for i := range releases {
		r := &releases[i]
		t.Run(r.version, func(t *testing.T) {
			if !strings.HasPrefix(r.packaged, r.version) {
				t.Errorf("Debian's %s is none of %s", r.packaged, r.version)
			}
			packages := r.root().packages
			if len(packages) == 0 {
				t.Fatal("no package is asserted")
			}
			for _, p := range packages {
				for j := range releases {
					installed := strings.TrimSuffix(releases[j].packaged, "*") + "+deb1"
					if err := p.Tried(installed, ""); (err == nil) != (i == j) {
						t.Errorf("%s %s: %v", p.Name, installed, err)
					}
				}
			}
		})
	}
}

func TestDebianRootKeysDiffer(t *testing.T) {
	base := debianRoot{suite: "bookworm"}
	keys := map[string]string{base.key(): "no option"}
	for name, change := range map[string]func(*debianRoot){
		"another suite":      func(d *debianRoot) { d.suite = "trixie" },
		"another package":    func(d *debianRoot) { d.others = []string{"curl"} },
		"a user":             func(d *debianRoot) { d.users = map[string]string{"ceph": "167"} },
		"the user's number":  func(d *debianRoot) { d.users = map[string]string{"ceph": "168"} },
		"a pin":              func(d *debianRoot) { d.pins = map[string]string{"src:ceph": "1"} },
		"the pinned version": func(d *debianRoot) { d.pins = map[string]string{"src:ceph": "2"} },
		"modules":            func(d *debianRoot) { d.python = []string{"/usr/lib/python3"} },
	} {
		d := base
		change(&d)
		if other, taken := keys[d.key()]; taken {
			t.Errorf("%s: the layer of %s is taken for it", name, other)
		}
		keys[d.key()] = name
	}
}

func TestCephFilesPrecedePythonDirectories(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	l, err := (&cephRelease{files: cephReleases()[2].files}).filesLayer(s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	archive := tar.NewReader(r)
	header, err := archive.Next()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(archive)
	if err != nil {
		t.Fatal(err)
	}
	if header.Name != "usr/share/ceph/mgr/bcrypt.py" || !strings.Contains(string(content), "gensalt") {
		t.Errorf("%s holds:\n%s", header.Name, content)
	}
}
