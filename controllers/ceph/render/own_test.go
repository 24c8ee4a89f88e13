package render_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/render"
)

// TestDeploymentOwnsTheDataOfAnotherImage runs the script that gives a directory on a host to the user of the image, who is 167, with a stat
// that shows 64045 as the owner of what an image of Debian made. Nothing is walked through while all is the user's.
func TestDeploymentOwnsTheDataOfAnotherImage(t *testing.T) {
	for name, tc := range map[string]struct {
		daemon ceph.Type
		// files are in the directory, and debian are those that belong to the other user, with data for the directory itself.
		files, debian []string
		want          string
	}{
		"a new directory":                       {daemon: ceph.TypeMon, debian: []string{"data"}, want: "0:0 D\n167:167 D\n"},
		"a directory of the user":               {daemon: ceph.TypeMon},
		"a monitor of the user":                 {daemon: ceph.TypeMon, files: []string{"store.db", "formatted"}},
		"a monitor of the other one":            {daemon: ceph.TypeMon, files: []string{"store.db", "formatted"}, debian: []string{"data", "store.db", "formatted"}, want: "0:0 D\n-R 167:167 D/formatted D/store.db\n167:167 D\n"},
		"a monitor that was begun":              {daemon: ceph.TypeMon, files: []string{"store.db"}, debian: []string{"store.db"}, want: "0:0 D\n-R 167:167 D/store.db\n167:167 D\n"},
		"an OSD of the user":                    {daemon: ceph.TypeOSD, files: []string{"type", "lost+found"}, debian: []string{"lost+found"}},
		"an OSD of the other one":               {daemon: ceph.TypeOSD, files: []string{"block", "type"}, debian: []string{"data", "block", "type"}, want: "0:0 D\n-h 167:167 D/block D/type\n167:167 D\n"},
		"an OSD of which only the directory is": {daemon: ceph.TypeOSD, files: []string{"block", "type"}, debian: []string{"block", "type"}, want: "0:0 D\n-h 167:167 D/block D/type\n167:167 D\n"},
		"a directory without an OSD":            {daemon: ceph.TypeOSD, files: []string{"of-others"}, debian: []string{"data", "of-others"}, want: "0:0 D\n167:167 D\n"},
	} {
		t.Run(name, func(t *testing.T) {
			in, all := input(t, v18)
			of := all[slices.IndexFunc(all, func(d daemons.Daemon) bool { return d.Name.Type == tc.daemon && d.Claims == nil })]
			d, err := render.Deployment(in, of, in.Record.Daemons[of.Name.String()])
			if err != nil {
				t.Fatal(err)
			}
			own := d.Spec.Template.Spec.InitContainers[0]
			if own.Name != "own-data" {
				t.Fatalf("the first init container is %s", own.Name)
			}
			root := t.TempDir()
			data, bin, log := filepath.Join(root, "data"), filepath.Join(root, "bin"), filepath.Join(root, "log")
			if err := os.MkdirAll(data, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, f := range tc.files {
				write(t, filepath.Join(data, f), "")
			}
			write(t, filepath.Join(bin, "chown"), "#!/bin/sh\necho \"$@\" >> "+log+"\n")
			write(t, filepath.Join(bin, "stat"), "#!/bin/sh\nshift 2\nfor f; do if [ ! -e $f ]; then exit 1; fi\ncase \" "+strings.Join(tc.debian, " ")+" \" in *\" ${f##*/} \"*) echo 64045:64045;; *) echo 167:167;; esac; done\n")
			command := exec.CommandContext(t.Context(), "sh", "-ec", strings.ReplaceAll(own.Command[2], "/var/lib/ceph/"+string(tc.daemon)+"/ceph-"+of.Name.ID, data))
			command.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "LC_ALL=C"}
			if out, err := command.CombinedOutput(); err != nil || len(out) > 0 {
				t.Fatalf("%v: %s", err, out)
			}
			got, _ := os.ReadFile(log)
			if diff := cmp.Diff(tc.want, strings.ReplaceAll(string(got), data, "D")); diff != "" {
				t.Errorf("chown (-want +got):\n%s", diff)
			}
		})
	}
}
