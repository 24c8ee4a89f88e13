package render_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
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
	script := formatScript(d)
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
			write := func(path, text string) { write(t, path, text) }
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

// formatScript is the script of the init container that makes the data.
func formatScript(d *appsv1.Deployment) string {
	inits := d.Spec.Template.Spec.InitContainers
	return inits[len(inits)-1].Command[2]
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // programs, too
		t.Fatal(err)
	}
}

// TestDeploymentReadsABlockDevice runs the script that makes an OSD on a block device, with programs that stand for those of Ceph. The data is
// lost only if the device could be read and has no label; a device that has one, or cannot be read, is never formatted.
func TestDeploymentReadsABlockDevice(t *testing.T) {
	in, all := input(t, v18)
	at := slices.IndexFunc(all, func(d daemons.Daemon) bool {
		return d.Claims != nil && d.Claims.VolumeMode == corev1.PersistentVolumeBlock
	})
	d, err := render.Deployment(in, all[at], in.Record.Daemons[all[at].Name.String()])
	if err != nil {
		t.Fatal(err)
	}
	const (
		labelled   = "bluestore block device\n11111111-2222-3333-4444-555555555555\n"
		answers    = "exit 0"
		noLabel    = `echo "2026-11-20 -1 bluestore: unable to decode label"; echo "unable to read label for /dev/osd-block: (2) No such file or directory" >&2; exit 1`
		ioError    = `echo "2026-11-20 -1 bluestore: failed to read" >&2; echo "unable to read label for /dev/osd-block: (5) Input/output error" >&2; exit 1`
		notPrimed  = `echo "failed to write: (28) No space left on device" >&2; exit 1`
		cannotRead = "the block device of osd.1 cannot be used: "
	)
	type want struct {
		Code         int
		Text         string
		Made, Linked bool
	}
	for name, tc := range map[string]struct {
		format, device, label, prime string
		// absent means that there is no device that can be read, and toolless that the image has no such tool.
		absent, toolless bool
		want             want
	}{
		"a new device":             {format: "allowed", device: "\x00\x00\x00", label: noLabel, want: want{Made: true}},
		"a label":                  {format: "done", device: labelled, label: answers, prime: answers, want: want{Linked: true}},
		"a label from before":      {format: "allowed", device: labelled, label: answers, prime: answers, want: want{Linked: true}},
		"the label is gone":        {format: "done", device: "\x00\x00\x00", label: noLabel, want: want{Code: 64, Text: "StorageLost: the data of osd.1 is gone"}},
		"other data is in place":   {format: "done", device: "LUKS", label: noLabel, want: want{Code: 64, Text: "StorageLost: the data of osd.1 is gone"}},
		"an error of the device":   {format: "done", absent: true, label: ioError, want: want{Code: 1, Text: cannotRead + "head: error reading 'DEVICE': Is a directory"}},
		"an error of a new device": {format: "allowed", absent: true, label: ioError, want: want{Code: 1, Text: cannotRead + "head: error reading 'DEVICE': Is a directory"}},
		"a label that is damaged": {format: "done", device: labelled, label: ioError,
			want: want{Code: 1, Text: cannotRead + "unable to read label for /dev/osd-block: (5) Input/output error"}},
		"a label that is damaged, and may be made": {format: "allowed", device: labelled, label: noLabel,
			want: want{Code: 1, Text: cannotRead + "unable to read label for /dev/osd-block: (2) No such file or directory"}},
		"the directory cannot be made":     {format: "done", device: labelled, label: answers, prime: notPrimed, want: want{Code: 1, Text: cannotRead + "failed to write: (28) No space left on device"}},
		"the directory of a new one, too":  {format: "allowed", device: labelled, label: answers, prime: notPrimed, want: want{Code: 1, Text: cannotRead + "failed to write: (28) No space left on device"}},
		"the tool ends with a signal":      {format: "done", device: "\x00", label: "echo killed; exit 137", want: want{Code: 1, Text: cannotRead + "killed"}},
		"the image does not have the tool": {format: "done", device: "\x00", toolless: true, want: want{Code: 1, Text: cannotRead + "sh: ceph-bluestore-tool: not found"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			bin, device, data := filepath.Join(root, "bin"), filepath.Join(root, "device"), filepath.Join(root, "data")
			write(t, filepath.Join(root, "record", "format"), tc.format)
			write(t, filepath.Join(data, "keyring"), "")
			write(t, filepath.Join(bin, "ceph-osd"), "#!/bin/sh\ntouch "+root+"/made\n")
			if !tc.toolless {
				write(t, filepath.Join(bin, "ceph-bluestore-tool"), "#!/bin/sh\ncase $1 in show-label) "+tc.label+";; *) "+tc.prime+";; esac\n")
			}
			if tc.absent {
				write(t, filepath.Join(device, "file"), "")
			} else {
				write(t, device, tc.device)
			}
			text := strings.NewReplacer("/dev/osd-block", device, "/etc/ceph-record", filepath.Join(root, "record"), "/tmp/", root+"/", "/var/lib/ceph/osd/ceph-1", data).Replace(formatScript(d))
			command := exec.CommandContext(t.Context(), "sh", "-ec", text)
			command.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "LC_ALL=C"}
			out, _ := command.CombinedOutput()
			got := want{Code: command.ProcessState.ExitCode(), Text: strings.ReplaceAll(strings.TrimSpace(string(out)), device, "DEVICE")}
			_, errMade := os.Stat(filepath.Join(root, "made"))
			link, _ := os.Readlink(filepath.Join(data, "block"))
			got.Made, got.Linked = errMade == nil, link == device
			if strings.HasSuffix(got.Text, "ceph-bluestore-tool: not found") { // shells name themselves
				got.Text = cannotRead + "sh: ceph-bluestore-tool: not found"
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestDeploymentKeepsTheMonitorsOfClustersApart gives clusters whose namespaces and names together read the same different directories, and a
// monitor of an earlier release the one that it has.
func TestDeploymentKeepsTheMonitorsOfClustersApart(t *testing.T) {
	for name, tc := range map[string]struct {
		namespace, cluster string
		earlier            bool
		want               string
	}{
		"a cluster":                       {"rook", "ceph-x", false, "/var/lib/rook/rook_ceph-x/mon-a"},
		"another one":                     {"rook-ceph", "x", false, "/var/lib/rook/rook-ceph_x/mon-a"},
		"a monitor of an earlier release": {"rook", "ceph-x", true, "/var/lib/rook/rook-ceph-x/mon-a"},
	} {
		t.Run(name, func(t *testing.T) {
			in, all := input(t, v18)
			in.Cluster.Namespace, in.Cluster.Name = tc.namespace, tc.cluster
			one := in.Record.Daemons["mon.a"]
			if !tc.earlier {
				one.Directory = render.MonDirectory(in.Cluster)
			}
			in.Record.Daemons["mon.a"] = one
			d, err := render.Deployment(in, all[0], one)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range d.Spec.Template.Spec.Volumes {
				if v.HostPath != nil {
					got = append(got, v.HostPath.Path)
				}
			}
			if diff := cmp.Diff([]string{tc.want}, got); diff != "" {
				t.Errorf("directories (-want +got):\n%s", diff)
			}
		})
	}
}
