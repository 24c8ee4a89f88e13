package render

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// disk is what lies in a log directory before the script runs.
type disk string

const (
	blank     disk = "blank"     // nothing
	formatted disk = "formatted" // never used
	used      disk = "used"      // with a metadata log
)

func TestFormatScript(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatalf("the script cannot be run without a shell: %s", err)
	}
	type volume struct {
		id, kind string
		disk     disk
		metadata bool
	}
	for name, tc := range map[string]struct {
		format, volumes, metadata string
		disks                     []volume
		// want are the arguments of the formatting tool, empty if it is not to run.
		want string
		// lost is what the refusal names.
		lost string
		// withheld is the volume whose absence the refusal names.
		withheld string
	}{
		"a new node": {format: "allowed", disks: []volume{{"0", "persistent", blank, true}},
			want: "format --cluster-id CLUSTER --config CONFIG/server.properties --ignore-formatted"},
		"a new node at a lower metadata version": {format: "allowed", metadata: "4.0-IV3", disks: []volume{{"0", "persistent", blank, true}},
			want: "format --cluster-id CLUSTER --config CONFIG/server.properties --ignore-formatted --release-version 4.0-IV3"},
		"a node that runs": {format: "done", volumes: "0", disks: []volume{{"0", "persistent", used, true}}},
		"a node that was formatted and not registered yet": {format: "allowed", disks: []volume{{"0", "persistent", formatted, true}}},
		"a disk that was lost":                             {format: "done", volumes: "0", disks: []volume{{"0", "persistent", blank, true}}, lost: "disk0"},
		"one of two disks was lost": {format: "done", volumes: "0 1", disks: []volume{
			{"0", "persistent", used, true}, {"1", "persistent", blank, false}}, lost: "disk1"},
		"a disk that was added": {format: "done", volumes: "0", disks: []volume{
			{"0", "persistent", used, true}, {"1", "persistent", blank, false}},
			want: "format --cluster-id CLUSTER --config CONFIG/server.properties --ignore-formatted"},
		"volume 1 is not volume 11": {format: "done", volumes: "0 11", disks: []volume{
			{"0", "persistent", used, true}, {"1", "persistent", blank, false}, {"11", "persistent", formatted, false}},
			want: "format --cluster-id CLUSTER --config CONFIG/server.properties --ignore-formatted"},
		"the metadata log was moved to a disk without one": {format: "done", volumes: "0 1", disks: []volume{
			{"0", "persistent", used, false}, {"1", "persistent", formatted, true}}, lost: "disk1/__cluster_metadata-0"},
		"the metadata log on a new disk": {format: "done", volumes: "0", disks: []volume{
			{"0", "persistent", used, false}, {"1", "persistent", blank, true}}, lost: "disk1/__cluster_metadata-0"},
		"a lost disk may be formatted again once that was allowed": {format: "allowed", volumes: "0", disks: []volume{{"0", "persistent", blank, true}},
			want: "format --cluster-id CLUSTER --config CONFIG/server.properties --ignore-formatted"},
		"ephemeral storage is formatted each time": {format: "done", disks: []volume{{"0", "ephemeral", blank, true}},
			want: "format --cluster-id CLUSTER --config CONFIG/server.properties --ignore-formatted"},
		"ephemeral storage after the container has died": {format: "allowed", disks: []volume{{"0", "ephemeral", used, true}}},
		"ephemeral storage where a persistent disk was":  {format: "done", volumes: "0", disks: []volume{{"0", "ephemeral", blank, true}}, withheld: "0"},
		"a disk that was removed":                        {format: "done", volumes: "0 1", disks: []volume{{"0", "persistent", used, true}}, withheld: "1"},
		"a disk that came back as an ephemeral one": {format: "done", volumes: "0 1", disks: []volume{
			{"0", "persistent", used, true}, {"1", "ephemeral", blank, false}}, withheld: "1"},
		"a disk may be removed once formatting anew was allowed": {format: "allowed", volumes: "0", disks: []volume{{"0", "ephemeral", blank, true}},
			want: "format --cluster-id CLUSTER --config CONFIG/server.properties --ignore-formatted"},
		"a lost disk beside an ephemeral one": {format: "done", volumes: "0", disks: []volume{
			{"0", "persistent", blank, true}, {"1", "ephemeral", blank, false}}, lost: "disk0"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(path, content string, mode os.FileMode) {
				t.Helper()
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), mode); err != nil {
					t.Fatal(err)
				}
			}
			write("record/format", tc.format, 0o644)
			write("record/volumes", tc.volumes, 0o644)
			write("record/metadata-version", tc.metadata, 0o644)
			write("record/cluster-id", "CLUSTER", 0o644)
			write("kafka/bin/kafka-storage.sh", "#!"+shell+"\nprintf '%s' \"$*\" > "+filepath.Join(dir, "called")+"\n", 0o755)
			var dirs []string
			metadata := ""
			for _, v := range tc.disks {
				at := "disk" + v.id
				if v.disk != blank {
					write(at+"/meta.properties", "version=1", 0o644)
				}
				if v.disk == used && (v.metadata || len(tc.disks) > 1) {
					write(at+"/__cluster_metadata-0/log", "", 0o644)
				}
				if v.metadata && v.kind == "persistent" {
					metadata = filepath.Join(dir, at)
				}
				dirs = append(dirs, v.kind+":"+v.id+":"+filepath.Join(dir, at))
			}
			run := exec.CommandContext(t.Context(), shell, "-c", formatScript)
			run.Env = []string{
				"PATH=" + os.Getenv("PATH"), "LOG_DIRS=" + strings.Join(dirs, " "), "METADATA_DIR=" + metadata,
				"RECORD=" + filepath.Join(dir, "record"), "CONFIG=CONFIG", "RECORD_NAME=c-p-1-record", "CLUSTER=c", "KAFKA_HOME=" + filepath.Join(dir, "kafka"),
			}
			out, err := run.CombinedOutput()
			if (err != nil) != (tc.lost+tc.withheld != "") {
				t.Fatalf("error %v, output %s", err, out)
			}
			if tc.lost != "" && !strings.Contains(string(out), tc.lost+",") {
				t.Errorf("output %q does not name %s", out, tc.lost)
			}
			if tc.lost != "" && (!strings.HasPrefix(string(out), StorageLostMarker) || run.ProcessState.ExitCode() != ExitStorage) {
				t.Errorf("exit code %d, output %q", run.ProcessState.ExitCode(), out)
			}
			const wayOut = "ConfigMap c-p-1-record forbids formatting it again (format: done). Bring the volume back, or approve the formatting: " +
				"the condition Stalled of Kafka c says how\n"
			if tc.lost != "" && !strings.HasSuffix(string(out), wayOut) {
				t.Errorf("output %q names no way out", out)
			}
			if tc.withheld != "" && !strings.HasPrefix(string(out), "ERROR storage withheld: the data of this node lies on persistent volume "+tc.withheld+",") {
				t.Errorf("output %q does not name volume %s", out, tc.withheld)
			}
			called, _ := os.ReadFile(filepath.Join(dir, "called"))
			if string(called) != tc.want {
				t.Errorf("the tool was called with %q, want %q", called, tc.want)
			}
		})
	}
}
