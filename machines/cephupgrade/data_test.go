package cephupgrade_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
)

func TestDataOfAStep(t *testing.T) {
	osd := ceph.Daemon{Type: ceph.TypeOSD, ID: "0"}
	codec := cephupgrade.Definition().Data
	for name, row := range map[string]struct {
		data map[string]string
		want order.Step
		bad  bool
	}{
		"none":                     {},
		"a replacement":            {data: map[string]string{"step": "Replace", "daemon": "osd.0"}, want: order.Step{Kind: order.Replace, Daemon: osd}},
		"one with an outage":       {data: map[string]string{"step": "Replace", "daemon": "osd.0", "outage": "true"}, want: order.Step{Kind: order.Replace, Daemon: osd, Outage: true}},
		"a filesystem":             {data: map[string]string{"step": "Reduce", "filesystem": "myfs"}, want: order.Step{Kind: order.Reduce, Filesystem: "myfs"}},
		"an unknown step":          {data: map[string]string{"step": "rotate", "daemon": "osd.0"}, bad: true},
		"an unknown type":          {data: map[string]string{"step": "Replace", "daemon": "disk.0"}, bad: true},
		"a daemon without an id":   {data: map[string]string{"step": "Replace", "daemon": "osd."}, bad: true},
		"an entry of no step":      {data: map[string]string{"nonsense": "1"}, bad: true},
		"an outage that is no yes": {data: map[string]string{"step": "Replace", "daemon": "osd.0", "outage": "no"}, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := codec.Decode(row.data)
			if row.bad != (err != nil) {
				t.Fatalf("%v, want an error: %t", err, row.bad)
			}
			if diff := cmp.Diff(row.want, got.Step); diff != "" {
				t.Error(diff)
			}
			if again := codec.Encode(got); !row.bad && !maps.Equal(again, row.data) {
				t.Errorf("it is written as %v", again)
			}
		})
	}
}
