package render_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/render"
)

// TestDeploymentFormatsAMonitor runs the script that makes the data of a monitor, with programs that stand for those of Ceph. Data that has
// served is never removed, and data whose making was interrupted is made again.
func TestDeploymentFormatsAMonitor(t *testing.T) {
	in, all := input(t, v18)
	mon := all[0]
	if mon.Name.Type != ceph.TypeMon {
		t.Fatalf("the first daemon is %s", mon.Name)
	}
	d, err := render.Deployment(in, mon, in.Record.Daemons[mon.Name.String()])
	if err != nil {
		t.Fatal(err)
	}
	inits := d.Spec.Template.Spec.InitContainers
	script := inits[len(inits)-1].Command[2]
	for name, tc := range map[string]struct {
		// format is what the record says, and files the data.
		format string
		files  []string
		// made means that the data is made; want is the data after that; lost means that the script fails.
		made bool
		want string
		lost bool
	}{
		"no data":                             {format: "allowed", made: true, want: "formatted store.db"},
		"data whose making was interrupted":   {format: "allowed", files: []string{"store.db", "half"}, made: true, want: "formatted store.db"},
		"data that was made":                  {format: "allowed", files: []string{"store.db", "formatted", "kept"}, want: "formatted kept store.db"},
		"data that has served":                {format: "done", files: []string{"store.db", "formatted", "kept"}, want: "formatted kept store.db"},
		"data without a mark that has served": {format: "done", files: []string{"store.db", "kept"}, want: "kept store.db"},
		"lost data":                           {format: "done", lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			data, bin := filepath.Join(root, "data"), filepath.Join(root, "bin")
			write := func(path, text string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // programs, too
					t.Fatal(err)
				}
			}
			write(filepath.Join(root, "record", "format"), tc.format)
			write(filepath.Join(root, "etc", "monmap"), "--addv a address")
			write(filepath.Join(bin, "monmaptool"), "#!/bin/sh\n")
			write(filepath.Join(bin, "ceph-mon"), "#!/bin/sh\ntouch "+data+"/store.db "+root+"/made\n")
			if err := os.MkdirAll(data, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, f := range tc.files {
				write(filepath.Join(data, f), "")
			}
			text := strings.NewReplacer("/var/lib/ceph/mon/ceph-"+mon.Name.ID, data, "/etc/ceph-record", filepath.Join(root, "record"), "/etc/ceph/", filepath.Join(root, "etc")+"/").Replace(script)
			command := exec.CommandContext(t.Context(), "sh", "-ec", text)
			command.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
			out, err := command.CombinedOutput()
			if (err != nil) != tc.lost || tc.lost && !strings.Contains(string(out), "StorageLost") {
				t.Fatalf("%v: %s", err, out)
			}
			entries, err := os.ReadDir(data)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range entries {
				got = append(got, e.Name())
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("data %v, want %s", got, tc.want)
			}
			if _, err := os.Stat(filepath.Join(root, "made")); (err == nil) != tc.made {
				t.Errorf("made: %v, want %v", err == nil, tc.made)
			}
		})
	}
}
