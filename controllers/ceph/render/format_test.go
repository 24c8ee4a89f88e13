package render_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/controllers/ceph/daemons"
	"github.com/detent-dev/detent/controllers/ceph/render"
	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
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
	const (
		own     = "11111111-2222-3333-4444-555555555555\n"
		other   = "99999999-2222-3333-4444-555555555555\n"
		foreign = "the directory /var/lib/rook/rook-ceph-rook-ceph/mon-a on node-1 holds data of the cluster 99999999-2222-3333-4444-555555555555, " +
			"not of 11111111-2222-3333-4444-555555555555: empty it if that data is not needed"
	)
	for name, tc := range map[string]struct {
		// format is what the record says, and files the data.
		format string
		files  []string
		// mark is the content of the mark in the data.
		mark string
		// made means that the data is made; want is the data after that, and marked its mark; says is why the script fails.
		made         bool
		want, marked string
		says         string
	}{
		"no data":                               {format: "allowed", made: true, want: "formatted store.db", marked: own},
		"data whose making was interrupted":     {format: "allowed", files: []string{"store.db", "half"}, made: true, want: "formatted store.db", marked: own},
		"data that was made":                    {format: "allowed", files: []string{"store.db", "formatted", "kept"}, mark: own, want: "formatted kept store.db", marked: own},
		"data that was made before marks":       {format: "allowed", files: []string{"store.db", "formatted", "kept"}, want: "formatted kept store.db"},
		"data that has served":                  {format: "done", files: []string{"store.db", "formatted", "kept"}, mark: own, want: "formatted kept store.db", marked: own},
		"data that has served, before marks":    {format: "done", files: []string{"store.db", "formatted", "kept"}, want: "formatted kept store.db", marked: own},
		"data without a mark that has served":   {format: "done", files: []string{"store.db", "kept"}, want: "formatted kept store.db", marked: own},
		"lost data":                             {format: "done", says: "StorageLost: the data of mon.a is gone"},
		"data of another cluster":               {format: "allowed", files: []string{"store.db", "formatted", "kept"}, mark: other, want: "formatted kept store.db", marked: other, says: foreign},
		"data of another one that is found now": {format: "done", files: []string{"store.db", "formatted"}, mark: other, want: "formatted store.db", marked: other, says: foreign},
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
				write(filepath.Join(data, f), map[string]string{"formatted": tc.mark}[f])
			}
			text := strings.NewReplacer("/var/lib/ceph/mon/ceph-"+mon.Name.ID, data, "/etc/ceph-record", filepath.Join(root, "record"), "/etc/ceph/", filepath.Join(root, "etc")+"/").Replace(script)
			command := exec.CommandContext(t.Context(), "sh", "-ec", text)
			command.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
			out, err := command.CombinedOutput()
			if (err != nil) != (tc.says != "") || strings.TrimSpace(string(out)) != tc.says {
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
			if marked, _ := os.ReadFile(filepath.Join(data, "formatted")); string(marked) != tc.marked {
				t.Errorf("marked with %q, want %q", marked, tc.marked)
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
		labelled = "bluestore block device\n11111111-2222-3333-4444-555555555555\n"
		answers  = "exit 0"
		begun    = `echo '{
    "/dev/osd-block": {
        "osd_uuid": "uuid-raw-0",
        "description": "main",
        "bluefs": "1",
        "kv_backend": "rocksdb"
    }
}'`
		ready = `echo '{
    "/dev/osd-block": {
        "osd_uuid": "uuid-raw-0",
        "description": "main",
        "bluefs": "1",
        "ceph_fsid": "11111111-2222-3333-4444-555555555555",
        "mkfs_done": "yes",
        "ready": "ready",
        "whoami": "1"
    }
}'`
		noLabel    = `echo "2026-11-20 -1 bluestore: unable to decode label"; echo "unable to read label for /dev/osd-block: (2) No such file or directory" >&2; exit 1`
		ioError    = `echo "2026-11-20 -1 bluestore: failed to read" >&2; echo "unable to read label for /dev/osd-block: (5) Input/output error" >&2; exit 1`
		foreign    = `echo '"ceph_fsid": "99", "ready": "ready"' | tr ',' '\n'`
		swapped    = `echo '"osd_uuid": "uuid-raw-1", "ready": "ready"' | tr ',' '\n'`
		belongs    = "the volume claim rook-ceph-osd-raw-0 holds data of the "
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
		"a new device":               {format: "allowed", device: "\x00\x00\x00", label: noLabel, want: want{Made: true}},
		"a label":                    {format: "done", device: labelled, label: ready, prime: answers, want: want{Linked: true}},
		"a label from before":        {format: "allowed", device: labelled, label: ready, prime: answers, want: want{Linked: true}},
		"the making was interrupted": {format: "allowed", device: labelled, label: begun, prime: answers, want: want{Made: true}},
		"it was interrupted, and is not allowed again": {format: "done", device: labelled, label: begun, prime: answers,
			want: want{Code: 1, Text: cannotRead + "making its data was interrupted, and it is not allowed again"}},
		"the label of another cluster": {format: "allowed", device: labelled, label: foreign, prime: answers,
			want: want{Code: 1, Text: belongs + "cluster 99, not of 11111111-2222-3333-4444-555555555555: empty it if that data is not needed"}},
		"the label of another OSD": {format: "done", device: labelled, label: swapped, prime: answers,
			want: want{Code: 1, Text: belongs + "OSD uuid-raw-1, not of uuid-raw-0: empty it if that data is not needed"}},
		"the label is gone":        {format: "done", device: "\x00\x00\x00", label: noLabel, want: want{Code: 64, Text: "StorageLost: the data of osd.1 is gone"}},
		"other data is in place":   {format: "done", device: "LUKS", label: noLabel, want: want{Code: 64, Text: "StorageLost: the data of osd.1 is gone"}},
		"an error of the device":   {format: "done", absent: true, label: ioError, want: want{Code: 1, Text: cannotRead + "head: error reading 'DEVICE': Is a directory"}},
		"an error of a new device": {format: "allowed", absent: true, label: ioError, want: want{Code: 1, Text: cannotRead + "head: error reading 'DEVICE': Is a directory"}},
		"a label that is damaged": {format: "done", device: labelled, label: ioError,
			want: want{Code: 1, Text: cannotRead + "unable to read label for /dev/osd-block: (5) Input/output error"}},
		"a label that is damaged, and may be made": {format: "allowed", device: labelled, label: noLabel,
			want: want{Code: 1, Text: cannotRead + "unable to read label for /dev/osd-block: (2) No such file or directory"}},
		"the directory cannot be made":     {format: "done", device: labelled, label: ready, prime: notPrimed, want: want{Code: 1, Text: cannotRead + "failed to write: (28) No space left on device"}},
		"the directory of a new one, too":  {format: "allowed", device: labelled, label: ready, prime: notPrimed, want: want{Code: 1, Text: cannotRead + "failed to write: (28) No space left on device"}},
		"the tool ends with a signal":      {format: "done", device: "\x00", label: "echo killed; exit 137", want: want{Code: 1, Text: cannotRead + "killed"}},
		"the image does not have the tool": {format: "done", device: "\x00", toolless: true, want: want{Code: 1, Text: cannotRead + "sh: ceph-bluestore-tool: not found"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			bin, device, data := filepath.Join(root, "bin"), filepath.Join(root, "device"), filepath.Join(root, "data")
			write(t, filepath.Join(root, "record", "format"), tc.format)
			write(t, filepath.Join(data, "type"), "") // of an attempt before
			write(t, filepath.Join(bin, "ceph-osd"), "#!/bin/sh\nif test -e "+data+"/type; then exit 17; fi\ntouch "+root+"/made\n")
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

// TestDeploymentMakesAnOSD runs the script that makes an OSD in a directory, with programs that stand for those of Ceph and for df. Its file
// never becomes larger than the room that it has, and data of others is not used.
func TestDeploymentMakesAnOSD(t *testing.T) {
	const (
		own    = "36 35 98:0 / DIRECTORY rw - ext4 /dev/sdb rw"
		shared = "36 35 98:0 /var/lib/osd DIRECTORY rw - ext4 /dev/sda rw"
		gib    = 1 << 30
		fsid   = "11111111-2222-3333-4444-555555555555"
		place  = "the directory /var/lib/osd on node-1 holds data of the "
		needed = ": empty it if that data is not needed"
	)
	block := func(name string) map[string]cephv1.ConfigSection {
		return map[string]cephv1.ConfigSection{name: {"debug_ms": "1", "bluestore_block_size": "4096"}}
	}
	for name, tc := range map[string]struct {
		claim       bool
		config      map[string]cephv1.ConfigSection
		directories int
		mount       string
		// free is in KiB, and files the data.
		free  int
		files []string
		// fsid and uuid are in the data.
		fsid, uuid string
		// want is the size in GiB; none if the option is not passed, and made means that the data is made. says is why the script fails.
		want float64
		made bool
		says string
	}{
		"a volume":                             {claim: true, free: 10 << 20, want: 9.599609375, made: true},
		"a volume with less than was claimed":  {claim: true, free: 5 << 20, want: 4.7998046875, made: true},
		"a volume that is a directory":         {claim: true, free: 500 << 20, want: 9.599609375, made: true},
		"a volume, and the spec has a size":    {claim: true, free: 10 << 20, config: block("global"), made: true},
		"the OSDs have a size":                 {claim: true, free: 10 << 20, config: block("osd"), made: true},
		"the OSD has a size":                   {claim: true, free: 10 << 20, config: block("osd.0"), made: true},
		"another OSD has a size":               {claim: true, free: 10 << 20, config: block("osd.10"), want: 9.599609375, made: true},
		"monitors have a size":                 {claim: true, free: 10 << 20, config: block("mon"), want: 9.599609375, made: true},
		"a size with spaces":                   {claim: true, free: 10 << 20, config: map[string]cephv1.ConfigSection{"osd": {" bluestore block  size": "1"}}, made: true},
		"an OSD that exists":                   {claim: true, free: 10 << 20, files: []string{"ready", "block"}},
		"a directory":                          {free: 100 << 20, directories: 1, mount: shared, want: 96, made: true},
		"one of several directories":           {free: 100 << 20, directories: 4, mount: shared, want: 24, made: true},
		"a directory with its own file system": {free: 100 << 20, directories: 4, mount: own, want: 96, made: true},
		"a directory, and the spec has a size": {free: 100 << 20, directories: 4, mount: shared, config: block("osd"), made: true},
		"a directory whose making was ended":   {free: 100 << 20, directories: 1, mount: shared, files: []string{"block", "type"}, want: 96, made: true},
		"the OSD of the directory":             {free: 1, files: []string{"ready"}, fsid: fsid, uuid: "uuid-dir-2955659c1c3c151c"},
		"an OSD of another cluster":            {free: 1, files: []string{"ready"}, fsid: "99", uuid: "uuid-dir-2955659c1c3c151c", says: place + "cluster 99, not of " + fsid + needed},
		"another OSD":                          {free: 1, files: []string{"ready"}, fsid: fsid, uuid: "uuid-other", says: place + "OSD uuid-other, not of uuid-dir-2955659c1c3c151c" + needed},
		"a volume with another OSD":            {claim: true, free: 1, files: []string{"ready"}, fsid: fsid, uuid: "uuid-other", says: "the volume claim rook-ceph-osd-set-0 holds data of the OSD uuid-other, not of uuid-set-0" + needed},
		"a directory with an OSD":              {free: 100 << 20, directories: 1, mount: shared, files: []string{"ready"}},
		"a file system of more than four TiB":  {free: 8 << 30, directories: 1, mount: own, want: 7864.3193359375, made: true},
		"a small file system":                  {free: 2 << 20, directories: 1, mount: own, want: 1.919921875, made: true},
	} {
		t.Run(name, func(t *testing.T) {
			in, all := input(t, v18)
			in.Cluster.Spec.CephConfig = tc.config
			for i := len(in.Cluster.Spec.Storage.Nodes[0].Directories); i < tc.directories; i++ {
				in.Cluster.Spec.Storage.Nodes[0].Directories = append(in.Cluster.Spec.Storage.Nodes[0].Directories, cephv1.Directory{Path: "/other"})
			}
			osd := all[slices.IndexFunc(all, func(d daemons.Daemon) bool {
				return d.Name.Type == ceph.TypeOSD && (d.Claims != nil) == tc.claim
			})]
			d, err := render.Deployment(in, osd, in.Record.Daemons[osd.Name.String()])
			if err != nil {
				t.Fatal(err)
			}
			root := t.TempDir()
			data, bin := filepath.Join(root, "data"), filepath.Join(root, "bin")
			write(t, filepath.Join(root, "record", "format"), "allowed")
			for key, text := range render.Config(in.Cluster, in.Record).Data {
				write(t, filepath.Join(root, "etc", key), text)
			}
			write(t, filepath.Join(root, "mounts"), strings.ReplaceAll(tc.mount, "DIRECTORY", data)+"\n")
			write(t, filepath.Join(bin, "df"), "#!/bin/sh\ntest \"$3\" = "+data+"\necho '    Avail'\necho "+strconv.Itoa(tc.free)+"\n")
			write(t, filepath.Join(bin, "ceph-osd"), "#!/bin/sh\necho \"$@\" > "+root+"/made\n")
			if err := os.MkdirAll(data, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, f := range tc.files {
				write(t, filepath.Join(data, f), "")
			}
			if tc.fsid != "" {
				write(t, filepath.Join(data, "ceph_fsid"), tc.fsid+"\n")
				write(t, filepath.Join(data, "fsid"), tc.uuid+"\n")
			}
			text := strings.NewReplacer("/var/lib/ceph/osd/ceph-"+osd.Name.ID, data, "/etc/ceph-record", filepath.Join(root, "record"), "/etc/ceph/", filepath.Join(root, "etc")+"/",
				"/proc/self/mountinfo", filepath.Join(root, "mounts")).Replace(formatScript(d))
			command := exec.CommandContext(t.Context(), "sh", "-ec", text)
			command.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
			if out, err := command.CombinedOutput(); (err != nil) != (tc.says != "") || strings.TrimSpace(string(out)) != tc.says {
				t.Fatalf("%v: %s", err, out)
			}
			want := ""
			if tc.made {
				want = fmt.Sprintf("--mkfs --id=%s --osd-uuid=uuid-%s --no-mon-config --osd-data=%s", osd.Name.ID, osd.Slot, data)
			}
			if tc.want > 0 {
				want += fmt.Sprintf(" --bluestore-block-size=%d", int64(tc.want*gib))
			}
			got, _ := os.ReadFile(filepath.Join(root, "made"))
			if diff := cmp.Diff(want, strings.TrimSpace(string(got))); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDeploymentOfAnOSDKeepsItsTemplate: another directory or another size for new OSDs restarts no OSD.
func TestDeploymentOfAnOSDKeepsItsTemplate(t *testing.T) {
	in, all := input(t, v18)
	templates := func() (out []string) {
		for _, d := range all {
			rendered, err := render.Deployment(in, d, in.Record.Daemons[d.Name.String()])
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, rendered.Annotations[render.Template])
		}
		return out
	}
	before := templates()
	in.Cluster.Spec.CephConfig = map[string]cephv1.ConfigSection{"osd": {"bluestore_block_size": "4096"}}
	in.Cluster.Spec.Storage.Nodes[0].Directories = append(in.Cluster.Spec.Storage.Nodes[0].Directories, cephv1.Directory{Path: "/other"})
	if diff := cmp.Diff(before, templates()); diff != "" {
		t.Errorf("templates (-want +got):\n%s", diff)
	}
}
