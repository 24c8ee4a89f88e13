package images

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/detent-dev/detent/test/cluster/machine"
)

// debianRoot is a root file system of a suite of Debian with some packages.
type debianRoot struct {
	suite string
	// packages whose versions are checked after the installation, because the content of a suite changes.
	packages []machine.Package
	// others are packages whose versions are not checked.
	others []string
	// pins are the versions to choose where the suite has several, by what they apply to, in the syntax of apt's
	// preferences.
	pins map[string]string
	// users to create before the packages are installed, which would otherwise choose the ids; each with a group of the
	// same id. Ids by name.
	users map[string]string
	// python are the folders of modules, as shell patterns, to compile with unchecked hashes: the files compiled by the
	// packages are valid only for the modification times of their sources, and in a layer every file has the same time.
	python []string
}

// javaRoot contains the Java that runs every version of Kafka here.
func javaRoot() *debianRoot {
	return &debianRoot{suite: "bookworm", packages: []machine.Package{{Name: "openjdk-17-jre-headless", Version: "17.0.21.1+2"}}}
}

func (d *debianRoot) key() string {
	key := fmt.Sprintf("debian %s %q %q 1", d.suite, d.packages, d.others)
	if hooks := d.hooks(); len(hooks) > 0 {
		key += fmt.Sprintf(" %q", hooks)
	}
	return key
}

// layer returns the layer of the root file system. Building it takes a minute the first time.
func (d *debianRoot) layer(ctx context.Context, k *Kitchen) (l v1.Layer, err error) {
	if l, err := k.Store.kept(d.key()); err == nil {
		return l, nil
	}
	if err := machine.Install(ctx, k.Log, []machine.Package{{Name: "mmdebstrap"}}); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(k.Store.path(), 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(k.Store.path(), "root-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, removeRoot(dir)) }()
	fmt.Fprintf(k.Log, "image: unpacking a root of Debian %s\n", d.suite)
	if err := d.unpack(ctx, dir); err != nil {
		return nil, err
	}
	if err := d.check(ctx, dir); err != nil {
		return nil, err
	}
	return k.Store.Layer(d.key(), func(w *tar.Writer) error { return writeTree(w, dir, d.skip) })
}

// removeRoot removes the directory of a root, including the mounts of an mmdebstrap that was killed. mmdebstrap must not
// run in its own mount namespace, because that would keep the mounts of a cluster busy that is removed at the same time.
func removeRoot(dir string) error {
	if err := machine.Unmount(dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

func (d *debianRoot) unpack(ctx context.Context, dir string) error {
	names := append([]string{}, d.others...)
	for _, p := range d.packages {
		names = append(names, p.Name)
	}
	args := []string{
		"--quiet", "--mode=root", "--variant=minbase", "--format=directory", "--include=" + strings.Join(names, ","),
		//  A post-install script of Java writes there and does not create it.
		`--setup-hook=mkdir -p "$1/usr/share/man/man1"`,
		//  The root is read once and removed, so packages need not sync their files to disk.
		"--dpkgopt=force-unsafe-io",
	}
	args = append(args, d.hooks()...)
	cmd := exec.CommandContext(ctx, "mmdebstrap", append(args, d.suite, dir)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it ends the processes that it runs in the root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("unpacking Debian %s: %w:\n%s", d.suite, err, bytes.TrimSpace(out))
	}
	return nil
}

// hooks returns the hooks of mmdebstrap for this root.
func (d *debianRoot) hooks() []string {
	var hooks []string
	for _, name := range slices.Sorted(maps.Keys(d.pins)) {
		hooks = append(hooks, fmt.Sprintf(`--setup-hook=printf 'Package: %s\nPin: version %s\nPin-Priority: 1001\n\n' >>"$1/etc/apt/preferences"`, name, d.pins[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(d.users)) {
		hooks = append(hooks, fmt.Sprintf(`--essential-hook=echo %[1]s:x:%[2]s: >>"$1/etc/group"; echo %[1]s:x:%[2]s:%[2]s::/:/usr/sbin/nologin >>"$1/etc/passwd"`, name, d.users[name]))
	}
	if len(d.python) > 0 {
		hooks = append(hooks, `--customize-hook=chroot "$1" sh -ec 'python3 -m compileall -q -f --invalidation-mode unchecked-hash `+strings.Join(d.python, " ")+`'`)
	}
	return hooks
}

// check fails unless the suite has the versions that were tested.
func (d *debianRoot) check(ctx context.Context, dir string) error {
	for _, p := range d.packages {
		out, err := exec.CommandContext(ctx, "dpkg-query", "--admindir="+filepath.Join(dir, "var/lib/dpkg"), "--show", "--showformat=${Version}", p.Name).Output()
		if err != nil {
			return fmt.Errorf("asking for the version of %s in Debian %s: %w", p.Name, d.suite, err)
		}
		if err := p.Tried(string(out), " in Debian "+d.suite+"; try it, and write it down in test/cluster/images"); err != nil {
			return err
		}
	}
	return nil
}

// skip reports whether containers do not need a file.
func (d *debianRoot) skip(name string) bool {
	for _, prefix := range []string{"usr/share/doc/", "usr/share/man/", "usr/share/locale/", "usr/share/info/", "var/cache/", "var/lib/apt/lists/", "var/log/", "boot/", "dev/", "proc/", "sys/", "run/", "tmp/"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
