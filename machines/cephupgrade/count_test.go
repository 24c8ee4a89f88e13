package cephupgrade_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/machines"
	cu "github.com/detent-dev/detent/machines/cephupgrade"
	"github.com/detent-dev/detent/machines/cephupgrade/decision"
)

func TestProgressCountsTheDaemonsThatChange(t *testing.T) {
	outdated := func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { daemon(f, osd0).Outdated = true }
	for name, tc := range map[string]struct {
		facts cu.Facts
		want  machines.Count
	}{
		"all daemons":                                        {with(old(osd0, osd1, rgw, mdsA, mdsB)), machines.Count{Done: 5, Total: 10}},
		"a daemon that starts":                               {with(old(mdsA), launched(mdsB)), machines.Count{Done: 8, Total: 10}},
		"a policy that is done":                              {with(onlyMonitors), machines.Count{Done: 3, Total: 3}},
		"a policy that has begun":                            {with(onlyMonitors, old(monB)), machines.Count{Done: 2, Total: 3}},
		"a policy, and a pod that differs too":               {with(onlyMonitors, outdated), machines.Count{Done: 3, Total: 4}},
		"a change between two development builds":            {with(development(everyone()...), wantsBuild("ceph:dev2", "")), machines.Count{Total: 10}},
		"another name of a development build":                {with(development(everyone()...), wantsBuild("mirror/ceph:dev", "ceph:dev@sha256:1")), machines.Count{Done: 10, Total: 10}},
		"a policy of another development build, which began": {with(development(everyone()...), policyOfBuild("ceph:dev2", ceph.TypeMon), func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) { daemon(f, monB).Image = "ceph:dev2" }), machines.Count{Done: 1, Total: 3}},
		"a cluster that does not answer":                     {with(mapsSilent), machines.Count{Unknown: true}},
	} {
		t.Run(name, func(t *testing.T) {
			definition := cu.Definition()
			if diff := cmp.Diff(tc.want, definition.Progress.Of(&tc.facts, cu.Data{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// wantsBuild has the spec ask for another development build. A reference is that of the daemons, too.
func wantsBuild(name, reference string) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		f.Spec.Wanted.Name, f.Spec.Wanted.Reference = name, reference
		for i := range f.Daemons {
			f.Daemons[i].Reference = reference
		}
	}
}

// policyOfBuild has a policy ask for another development build.
func policyOfBuild(name string, components ...ceph.Type) change {
	return func(f *cu.Facts, _ *cu.Cluster, _ *cu.Memory) {
		f.Spec.Policy = &decision.Policy{Image: decision.Image{Name: name, Detected: true, AllowUnsupported: true}, Components: components}
	}
}
