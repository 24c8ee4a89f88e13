package cephupgrade_test

import (
	"fmt"
	"slices"
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

// vacantOSDs is a cluster of 18.2.7 whose last OSDs never served, with placement groups that are not clean.
func vacantOSDs(count, vacant int) cu.Facts {
	f := manyOSDs(count)
	c, _ := f.Cluster.Get()
	for i := range f.Daemons {
		if d := &f.Daemons[i]; d.Name.Type == ceph.TypeOSD {
			old := *d
			*d = cu.Daemon{Name: old.Name, Image: "ceph:v18", Launched: v18, Newest: v18, Ready: true, Pod: old.Pod}
			if o, _ := c.OSDs.Of(d.Name); o.Number >= count-vacant {
				d.Pod, d.Ready, d.Trouble, d.Idle = "", false, trouble("Unschedulable"), true
			}
		}
	}
	for i := range c.OSDs.OSDs {
		serves := i < count-vacant
		c.OSDs.OSDs[i].New, c.OSDs.OSDs[i].Up, c.OSDs.OSDs[i].In = !serves, serves, serves
	}
	c.Metadata = slices.DeleteFunc(c.Metadata, func(m ceph.Metadata) bool {
		o, known := c.OSDs.Of(m.Daemon)
		return known && o.New
	})
	for i := range c.Metadata {
		if c.Metadata[i].Daemon.Type == ceph.TypeOSD {
			c.Metadata[i].Version = v18
		}
	}
	c.OSDs.RequireRelease, c.PGs.States = "reef", map[string]int{"active+undersized": 1}
	f.Cluster = transitions.Known(c, f.Cluster.At())
	return f
}

// TestReturnBesideManyVacantOSDs decides whether an OSD is back. BenchmarkReturn says how long that takes.
func TestReturnBesideManyVacantOSDs(t *testing.T) {
	f := vacantOSDs(1000, 900)
	if v := backOf(&f); v.Answer != transitions.No {
		t.Errorf("answered %+v", v)
	}
}

// BenchmarkReturn evaluates the guard of an OSD that was replaced.
func BenchmarkReturn(b *testing.B) {
	f := vacantOSDs(1000, 900)
	for b.Loop() {
		backOf(&f)
	}
}

func backOf(f *cu.Facts) transitions.Verdict {
	for _, row := range cu.Definition().Transitions {
		if row.From == cu.AwaitingDaemon && row.Event == "daemon-back" {
			return row.When.Evaluate(f, replaces(osd0))
		}
	}
	return transitions.Verdict{}
}

// BenchmarkSelection evaluates the guards of the selection.
func BenchmarkSelection(b *testing.B) {
	f := manyOSDs(1000)
	for b.Loop() {
		selectsOf(&f)
	}
}
