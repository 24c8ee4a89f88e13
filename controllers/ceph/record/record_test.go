package record_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/controllers/ceph/record"
)

func TestEncode(t *testing.T) {
	want := &record.Record{
		FSID: "f", OSDs: map[string]string{"set-0": "u"}, Images: map[string]record.Image{"ceph:16": {Reference: "ceph:16", Version: versions.Version{Major: 16}}},
		Daemons: map[string]record.Daemon{
			"mon.a":  {Image: "ceph:16", Node: "n", Address: "10.0.0.1", Format: record.FormatAllowed},
			"osd.10": {Slot: "set-1", Format: record.FormatDone}, "osd.9": {Slot: "set-0", CrushHost: "node-1"}, "mgr.a": {Authorized: true},
		},
	}
	data, err := record.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := record.Decode(data)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, known := data["crush-host.osd.10"]; known || data["format.mon.a"] != "allowed" || data["format.osd.10"] != "done" || data["crush-host.osd.9"] != "node-1" {
		t.Errorf("the pods find %v", data)
	}
	names := []ceph.Daemon{{Type: ceph.TypeMon, ID: "a"}, {Type: ceph.TypeMgr, ID: "a"}, {Type: ceph.TypeOSD, ID: "9"}, {Type: ceph.TypeOSD, ID: "10"}}
	if diff := cmp.Diff(names, got.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	got.Daemons["mon.a"] = record.Daemon{}
	clone := want.Clone()
	clone.Daemons["mon.b"] = record.Daemon{}
	if _, changed := want.Daemons["mon.b"]; changed {
		t.Error("a clone is not independent")
	}
}

// TestEncodeFitsIntoAConfigMap encodes as many OSDs as the definition of the resource permits, with long names of images and nodes.
func TestEncodeFitsIntoAConfigMap(t *testing.T) {
	const osds, limit = 1000, 1 << 20
	image := strings.Repeat("registry.example.org/", 6) + "ceph:v18.2.7"
	r := &record.Record{FSID: strings.Repeat("f", 36), Daemons: map[string]record.Daemon{}, OSDs: map[string]string{}}
	for i := range osds {
		slot := fmt.Sprintf("%s-%d", strings.Repeat("s", 20), i)
		r.OSDs[slot] = strings.Repeat("u", 36)
		r.Daemons[fmt.Sprintf("osd.%d", i)] = record.Daemon{
			Image: image, Reference: image + "@sha256:" + strings.Repeat("a", 64), Version: versions.Version{Major: 18, Minor: 2, Patch: 7}, Newest: versions.Version{Major: 18, Minor: 2, Patch: 7},
			CrushHost: strings.Repeat("n", 63), Format: record.FormatAllowed, Slot: slot, Authorized: true, Absent: time.Date(2026, 11, 20, 12, 0, 0, 1, time.UTC),
			BeforeMove: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		}
	}
	data, err := record.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for key, text := range data {
		size += len(key) + len(text)
	}
	if size > limit {
		t.Errorf("%d bytes, and a ConfigMap holds %d", size, limit)
	}
}

// A record that cannot be read is never empty: an empty one would found a new cluster.
func TestDecodeRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "{", "no fsid": `{"daemons": {}}`, "an unknown daemon": `{"fsid": "f", "daemons": {"nfs.a": {}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := record.Decode(map[string]string{"record": text}); err == nil {
				t.Error("it is accepted")
			}
		})
	}
}
