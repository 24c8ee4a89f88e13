package cephupgrade_test

import (
	"fmt"
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/transitions"
)

// manyOSDs is a cluster with a number of OSDs of 16.2.15, which are next.
func manyOSDs(count int) cu.Facts {
	return with(gone(osd0), gone(osd1), silent(osd0), silent(osd1), func(f *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
		c.OSDs = ceph.OSDMap{RequireRelease: "pacific"}
		for i := range count {
			name := ceph.Daemon{Type: ceph.TypeOSD, ID: fmt.Sprint(i)}
			c.OSDs.OSDs = append(c.OSDs.OSDs, ceph.OSD{Number: i, Up: true, In: true})
			c.Metadata = append(c.Metadata, ceph.Metadata{Daemon: name, Version: v16, Pod: name.String()})
			f.Daemons = append(f.Daemons, cu.Daemon{Name: name, Image: "ceph:v16", Launched: v16, Newest: v16, Ready: true, Pod: name.String()})
		}
	})
}

// selectsOf evaluates the guards of the selection.
func selectsOf(f *cu.Facts) (transitions.Verdict, cu.Data) {
	for _, row := range cu.Definition().Transitions {
		switch {
		case row.From != cu.SelectingDaemon:
		case row.Choose != nil:
			return row.Choose.Pick(f, cu.Data{})
		default:
			row.When.Evaluate(f, cu.Data{})
		}
	}
	return transitions.Verdict{}, cu.Data{}
}

// TestSelectionOfManyOSDs selects among as many OSDs as a spec may have. BenchmarkSelection says how long that takes.
func TestSelectionOfManyOSDs(t *testing.T) {
	f := manyOSDs(1000)
	if _, d := selectsOf(&f); d != replaces(osd0) {
		t.Errorf("selected %+v", d)
	}
}

// BenchmarkSelection evaluates the guards of the selection.
func BenchmarkSelection(b *testing.B) {
	f := manyOSDs(1000)
	for b.Loop() {
		selectsOf(&f)
	}
}
