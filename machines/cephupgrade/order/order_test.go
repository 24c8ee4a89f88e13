package order_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
	"github.com/detent-dev/detent/machines/cephupgrade/order"
)

// cluster returns outdated daemons that serve. A name may have marks: * leads, ~ follows, - does not serve, ! is up to date, % was
// stopped, # does not start, & is held, + runs the version of its target.
func cluster(names ...string) (out []order.Daemon) {
	for _, n := range names {
		name := strings.TrimRight(n, "*~-!%#&+")
		marks := n[len(name):]
		t, id, _ := strings.Cut(name, ".")
		d := order.Daemon{
			Name: ceph.Daemon{Type: ceph.Type(t), ID: id}, Leading: strings.Contains(marks, "*"), Following: strings.Contains(marks, "~"), Stopped: strings.Contains(marks, "%"),
			Serving: !strings.ContainsAny(marks, "-%#"), Outdated: !strings.Contains(marks, "!"), Broken: strings.Contains(marks, "#"), Held: strings.Contains(marks, "&"), Current: strings.Contains(marks, "+"),
		}
		if t == "mds" {
			d.Filesystem = id[:strings.LastIndex(id, "-")]
		}
		out = append(out, d)
	}
	return out
}

func described(s order.Step) string {
	if s.Filesystem != "" {
		return string(s.Kind) + " " + s.Filesystem
	}
	if s.Outage {
		return string(s.Kind) + " " + s.Daemon.String() + " with an outage"
	}
	return string(s.Kind) + " " + s.Daemon.String()
}

func TestNext(t *testing.T) {
	cases := map[string]struct {
		daemons  []order.Daemon
		standbys versions.Standbys
		want     string
	}{
		"nothing is outdated":                        {daemons: cluster("mon.a!", "osd.0!")},
		"no daemons":                                 {},
		"monitors come first":                        {daemons: cluster("mds.fs-a", "rgw.s.a", "osd.0", "mgr.a", "mon.a", "mon.b", "mon.c"), want: "Replace mon.a"},
		"managers come second":                       {daemons: cluster("mds.fs-a", "rgw.s.a", "osd.0", "mgr.a", "mon.a!"), want: "Replace mgr.a"},
		"then OSDs":                                  {daemons: cluster("mds.fs-a", "rgw.s.a", "osd.0", "mon.a!"), want: "Replace osd.0"},
		"then gateways":                              {daemons: cluster("mds.fs-a", "rgw.s.a", "osd.0!"), want: "Replace rgw.s.a"},
		"then metadata servers":                      {daemons: cluster("mds.fs-a", "rgw.s.a!"), want: "Replace mds.fs-a"},
		"the leader of the monitors is last":         {daemons: cluster("mon.a*", "mon.b", "mon.c"), want: "Replace mon.b"},
		"one of two monitors":                        {daemons: cluster("mon.a*", "mon.b"), want: "Replace mon.b with an outage"},
		"the leader of the monitors is left":         {daemons: cluster("mon.a*", "mon.b!", "mon.c!"), want: "Replace mon.a"},
		"OSDs by number":                             {daemons: cluster("osd.10", "osd.9"), want: "Replace osd.9"},
		"an OSD that does not serve is not replaced": {daemons: cluster("osd.0-", "osd.1"), want: "Replace osd.1"},
		"only OSDs that do not serve are left":       {daemons: cluster("osd.0!", "osd.2-", "osd.1-"), want: "Wait osd.1"},
		"an OSD that is held is not replaced":        {daemons: cluster("osd.0&", "osd.1", "mds.fs-a"), want: "Replace osd.1"},
		"only an OSD that is held is left":           {daemons: cluster("osd.0&", "osd.1!", "mds.fs-a"), want: "Wait osd.0"},
		"an OSD that is held does not start":         {daemons: cluster("mon.a", "osd.0#&", "osd.1"), want: "Wait osd.0"},
		"a dead monitor holds up the managers":       {daemons: cluster("mon.a-", "mgr.a"), want: "Wait mon.a"},
		"standby managers first":                     {daemons: cluster("mgr.a*", "mgr.b"), want: "Replace mgr.b"},
		"then the active one fails over":             {daemons: cluster("mgr.a*", "mgr.b!"), want: "Failover mgr.a"},
		"then it is replaced":                        {daemons: cluster("mgr.a", "mgr.b*!"), want: "Replace mgr.a"},
		"no manager can take over":                   {daemons: cluster("mgr.a*", "mgr.b!-"), want: "Replace mgr.a"},
		"the only manager":                           {daemons: cluster("mgr.a*"), want: "Replace mgr.a"},
		"a manager that does not start comes first":  {daemons: cluster("mon.a*", "mon.b", "mon.c", "mgr.a*", "mgr.b#"), want: "Replace mgr.b"},
		"it does not start on its target":            {daemons: cluster("mon.a*", "mon.b", "mon.c", "mgr.a*", "mgr.b#!"), want: "Replace mon.b"},
		"the former active manager starts again":     {daemons: cluster("mgr.a-", "mgr.b*!"), want: "Replace mgr.a"},
		"it is held":                                 {daemons: cluster("mgr.a-&", "mgr.b*!"), want: "Wait mgr.a"},
		"a dead manager beside one that is held":     {daemons: cluster("mgr.a-&", "mgr.b*!", "mgr.c-"), want: "Replace mgr.c"},
		"no manager is active":                       {daemons: cluster("mgr.a-", "mgr.b!"), want: "Wait mgr.a"},
		"the active manager does not serve":          {daemons: cluster("mgr.a-", "mgr.b*!-"), want: "Wait mgr.a"},

		"several active metadata servers":                 {cluster("mds.fs-a*", "mds.fs-b*"), versions.StandbysUpgrade, "Reduce fs"},
		"a follower":                                      {cluster("mds.fs-a*", "mds.fs-b~"), versions.StandbysUpgrade, "Reduce fs"},
		"standbys are replaced first":                     {cluster("mds.fs-a*", "mds.fs-b"), versions.StandbysUpgrade, "Replace mds.fs-b"},
		"then the active one":                             {cluster("mds.fs-a*", "mds.fs-b!"), versions.StandbysUpgrade, "Replace mds.fs-a"},
		"a dead standby does not hold up the active one":  {cluster("mds.fs-a*", "mds.fs-b-"), versions.StandbysUpgrade, "Replace mds.fs-a with an outage"},
		"standbys are stopped first":                      {cluster("mds.fs-a*", "mds.fs-b"), versions.StandbysStop, "Stop mds.fs-b"},
		"then the active one is replaced":                 {cluster("mds.fs-a*", "mds.fs-b%"), versions.StandbysStop, "Replace mds.fs-a with an outage"},
		"then what was stopped":                           {cluster("mds.fs-a*!", "mds.fs-b%"), versions.StandbysStop, "Replace mds.fs-b"},
		"unless the active one runs the release":          {cluster("mds.fs-a*+", "mds.fs-b%"), versions.StandbysStop, "Replace mds.fs-b"},
		"then its pod is replaced beside the standby":     {cluster("mds.fs-a*+", "mds.fs-b!"), versions.StandbysStop, "Replace mds.fs-a"},
		"a standby that is up to date is not stopped":     {cluster("mds.fs-a*", "mds.fs-b!"), versions.StandbysStop, "Replace mds.fs-a"},
		"without an active one the standbys are replaced": {cluster("mds.fs-a", "mds.fs-b"), versions.StandbysStop, "Replace mds.fs-a"},
		"the only metadata server":                        {cluster("mds.fs-a*"), versions.StandbysStop, "Replace mds.fs-a with an outage"},
		"an active one that does not serve is repaired":   {cluster("mds.fs-a*-", "mds.fs-b%"), versions.StandbysStop, "Wait mds.fs-a"},
		"no standby is stopped meanwhile":                 {cluster("mds.fs-a*-", "mds.fs-b"), versions.StandbysStop, "Wait mds.fs-a"},
		"one filesystem after the other":                  {cluster("mds.y-a*", "mds.y-b", "mds.x-a*", "mds.x-b"), versions.StandbysStop, "Stop mds.x-b"},
		"standbys of another filesystem do not matter":    {cluster("mds.x-a*!", "mds.x-b!", "mds.y-a*"), versions.StandbysStop, "Replace mds.y-a with an outage"},
		"all metadata servers are dead":                   {cluster("mds.fs-a-", "mds.fs-b-"), versions.StandbysStop, "Wait mds.fs-a"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprint(c.daemons)
			step, ok := order.Next(c.daemons, c.standbys)
			got := ""
			if ok {
				got = described(step)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if fmt.Sprint(c.daemons) != before {
				t.Error("the daemons were changed")
			}
		})
	}
}

// TestNextEnds follows the steps of any cluster: every daemon ends up to date, no type before an earlier one, and no filesystem loses
// its active metadata server while another one could take over.
func TestNextEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var names []string
		for kind, most := range map[string]int{"mon": 3, "mgr": 3, "osd": 4, "rgw": 2} {
			for i := range rapid.IntRange(0, most).Draw(t, kind) {
				mark := ""
				if i == 0 && (kind == "mon" || kind == "mgr") {
					mark = "*"
				}
				names = append(names, fmt.Sprintf("%s.%d%s", kind, i, mark))
			}
		}
		for _, fs := range []string{"x", "y"} {
			active := rapid.IntRange(1, 2).Draw(t, "active")
			for i := range rapid.IntRange(0, 3).Draw(t, fs) {
				names = append(names, fmt.Sprintf("mds.%s-%d%s", fs, i, map[bool]string{true: "*"}[i < active]))
			}
		}
		daemons := cluster(names...)
		standbys := rapid.SampledFrom([]versions.Standbys{versions.StandbysStop, versions.StandbysUpgrade}).Draw(t, "standbys")
		reached := 0
		for range 4*len(daemons) + 4 {
			step, ok := order.Next(daemons, standbys)
			if !ok {
				if slices.ContainsFunc(daemons, func(d order.Daemon) bool { return d.Outdated || !d.Serving }) {
					t.Fatalf("it ended with %+v", daemons)
				}
				return
			}
			at := slices.Index(ceph.Types(), step.Daemon.Type)
			if step.Kind == order.Reduce {
				at = slices.Index(ceph.Types(), ceph.TypeMDS)
			}
			if at < reached {
				t.Fatalf("%s after a later type", described(step))
			}
			reached = at
			apply(t, daemons, step)
		}
		t.Fatalf("it does not end: %+v", daemons)
	})
}

// apply carries the step out.
func apply(t *rapid.T, daemons []order.Daemon, step order.Step) {
	for i := range daemons {
		d := &daemons[i]
		switch {
		case step.Kind == order.Wait:
			t.Fatalf("it waits for %s, which serves", step.Daemon)
		case step.Kind == order.Reduce && d.Filesystem == step.Filesystem && d.Leading:
			first := slices.IndexFunc(daemons, func(o order.Daemon) bool { return o.Filesystem == step.Filesystem && o.Leading })
			d.Leading = i == first
		case d.Name != step.Daemon:
		case step.Kind == order.Failover:
			other := slices.IndexFunc(daemons, func(o order.Daemon) bool { return o.Name.Type == d.Name.Type && !o.Outdated })
			d.Leading, daemons[other].Leading = false, true
		case step.Kind == order.Stop:
			d.Serving, d.Stopped = false, true
		case step.Kind == order.Replace:
			d.Outdated, d.Serving, d.Stopped = false, true, false
		}
	}
}
