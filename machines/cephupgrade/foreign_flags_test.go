package cephupgrade_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	cu "github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/transitions"
)

// observed is what the guard of a transition observes; empty if it says yes.
func observed(t *testing.T, from, event string, f cu.Facts, d cu.Data) string {
	t.Helper()
	definition := cu.Definition()
	for i := range definition.Transitions {
		row := &definition.Transitions[i]
		if row.From != from || row.Event != event {
			continue
		}
		var verdict transitions.Verdict
		if row.Choose != nil {
			verdict, _ = row.Choose.Pick(&f, d)
		} else {
			verdict = row.When.Verdict(&f, d)
		}
		if verdict.Answer == transitions.Yes {
			return ""
		}
		return verdict.Observed
	}
	t.Fatalf("there is no transition %s from %s", event, from)
	return ""
}

// clusterFlag sets a flag of the whole cluster, flag one of an OSD, and groupFlag one of a CRUSH node or a device class.
func clusterFlag(name string) change {
	return func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.OSDs.Flags = append(c.OSDs.Flags, name) }
}

func flag(number int, name string) change {
	return func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.OSDs.OSDs[number].Flags = []string{name} }
}

func groupFlag(group, name string) change {
	return func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) {
		c.OSDs.Groups = map[string][]string{group: {name}}
	}
}

// TestDefinitionFlags shows which flags of an admin stop the change of an OSD, and the way out.
func TestDefinitionFlags(t *testing.T) {
	const (
		codes   = "health codes OSD_FLAGS"
		cluster = "the flag noup keeps osd.0 from coming up again: remove it with ceph osd unset noup"
		nodown  = "the flag nodown shows osd.0 as up while it is replaced, and its placement groups wait for it: remove it with ceph osd unset nodown"
		own     = "the flag noup keeps osd.0 from coming up again: remove it with ceph osd unset-group noup osd.0"
		node    = "the flag noup keeps osd.0 from coming up again: remove it with ceph osd unset-group noup node-1"
	)
	health, back, selecting := cu.AwaitingHealth, cu.AwaitingDaemon, cu.SelectingDaemon
	for name, tc := range map[string]struct {
		state, event string
		facts        cu.Facts
		data         cu.Data
		want         string
	}{
		"noout of the upgrade":               {state: health, event: "healthy", facts: with(old(osd0), ours, noOut, raised("OSD_FLAGS")), data: replaces(osd0)},
		"noout of an admin":                  {state: health, event: "healthy", facts: with(old(osd0), noOut, raised("OSD_FLAGS")), data: replaces(osd0), want: codes},
		"nodown beside noout of the upgrade": {state: health, event: "healthy", facts: with(old(osd0), ours, noOut, flag(0, "nodown"), raised("OSD_FLAGS")), data: replaces(osd0), want: codes},
		"noin of another OSD":                {state: health, event: "healthy", facts: with(old(osd0), ours, noOut, flag(1, "noin"), raised("OSD_FLAGS")), data: replaces(osd0), want: codes},
		"noup of another OSD":                {state: health, event: "healthy", facts: with(old(osd0), flag(1, "noup"), raised("OSD_FLAGS")), data: replaces(osd0), want: codes},
		"noout of a host":                    {state: health, event: "healthy", facts: with(old(osd0), groupFlag("node-1", "noout"), raised("OSD_FLAGS")), data: replaces(osd0), want: codes},
		"noup":                               {state: health, event: "healthy", facts: with(old(osd0), flag(0, "noup"), raised("OSD_FLAGS")), data: replaces(osd0), want: own},
		"noup of the cluster":                {state: health, event: "healthy", facts: with(old(osd0), clusterFlag("noup"), raised("OSDMAP_FLAGS")), data: replaces(osd0), want: cluster},
		"nodown of the cluster":              {state: health, event: "healthy", facts: with(old(osd0), clusterFlag("nodown"), raised("OSDMAP_FLAGS")), data: replaces(osd0), want: nodown},
		"nodown, and a monitor":              {state: health, event: "healthy", facts: with(old(monB), clusterFlag("nodown"), raised("OSDMAP_FLAGS")), data: replaces(monB)},
		"nodown, set while it is replaced":   {state: back, event: "daemon-back", facts: with(clusterFlag("nodown")), data: replaces(osd0)},
		"noup of a host":                     {state: health, event: "healthy", facts: with(old(osd0), groupFlag("node-1", "noup"), raised("OSD_FLAGS")), data: replaces(osd0), want: node},
		"noup of the cluster, and a monitor": {state: health, event: "healthy", facts: with(old(monB), clusterFlag("noup"), raised("OSDMAP_FLAGS")), data: replaces(monB)},
		"noout of the cluster":               {state: health, event: "healthy", facts: with(old(osd0), clusterFlag("noout"), raised("OSDMAP_FLAGS")), data: replaces(osd0)},
		"the code is let pass":               {state: health, event: "healthy", facts: with(old(osd0), flag(0, "noup"), raised("OSD_FLAGS"), letsPass("OSD_FLAGS=5f2c91a0")), data: replaces(osd0), want: own},
		"before Ceph is asked":               {state: cu.AwaitingOkToStop, event: "ok-to-stop", facts: with(old(osd0), flag(0, "noup")), data: replaces(osd0), want: own},
		"set while the OSD is replaced":      {state: back, event: "daemon-back", facts: with(down(false), flag(0, "noup")), data: replaces(osd0), want: own},
		"set, and the OSD is up":             {state: back, event: "daemon-back", facts: with(flag(0, "noup")), data: replaces(osd0)},
		"placement groups are not clean":     {state: back, event: "daemon-back", facts: with(in("active+undersized+degraded")), data: replaces(osd0), want: "placement groups are active+undersized+degraded"},
		"norecover and norebalance": {state: back, event: "daemon-back", facts: with(in("active+undersized+degraded"), clusterFlag("norecover"), clusterFlag("norebalance")), data: replaces(osd0),
			want: "placement groups are active+undersized+degraded; the flags norecover, norebalance keep them so: remove each with ceph osd unset"},
		"nobackfill, and all are clean": {state: back, event: "daemon-back", facts: with(clusterFlag("nobackfill")), data: replaces(osd0)},
		"inconsistent placement groups": {state: back, event: "daemon-back", facts: with(in("active+clean+inconsistent")), data: replaces(osd0),
			want: "placement groups are active+clean+inconsistent; inconsistent ones, which ceph health detail lists, need ceph pg repair"},
		"an OSD that is to be replaced is down":   {state: selecting, event: "daemon-selected", facts: with(old(osd0), down(false), clusterFlag("noup")), want: cluster},
		"an OSD is down without a flag":           {state: selecting, event: "daemon-selected", facts: with(old(osd0), down(false)), want: "osd.0 does not serve: it is repaired on its version before it is replaced"},
		"an OSD that was replaced does not serve": {state: back, event: "daemon-back", facts: with(down(false)), data: replaces(osd0), want: "osd.0 does not serve yet"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, observed(t, tc.state, tc.event, tc.facts, tc.data)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// in has all placement groups in a state.
func in(state string) change {
	return func(_ *cu.Facts, c *cu.Cluster, _ *cu.Memory) { c.PGs.States = map[string]int{state: c.PGs.Total} }
}

func letsPass(annotation string) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { f.IgnoreHealth = annotation }
}
