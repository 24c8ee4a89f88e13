package ceph_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	cephv1 "github.com/detent-dev/detent/crds/ceph/v1"
)

// asked returns the monitors that were asked, in words, without repetitions.
func (r *rig) asked() (all []string) {
	r.t.Helper()
	names := map[string]string{}
	for name, d := range r.record().Daemons {
		if strings.HasPrefix(name, "mon.") {
			names[d.Address] = name
		}
	}
	for _, hosts := range slices.Compact(r.monitors) {
		words := "all"
		if hosts != "" {
			words = ""
			for address := range strings.SplitSeq(hosts, "],[") {
				words += " " + names[strings.Split(address, ":")[1]]
			}
		}
		all = append(all, strings.TrimSpace(words))
	}
	return all
}

// TestKindAsksTheOlderMonitors asks monitors of release 14 while those of 16 run beside them: these answer no question about stored keys
// while one of 14 leads, which is the last that changes.
func TestKindAsksTheOlderMonitors(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to string
		want     []string
	}{
		"14 to 16": {from: "14", to: "16", want: []string{"all", "mon.a mon.c", "mon.a", "all"}},
		"16 to 18": {from: "16", to: "18", want: []string{"all"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := launched(t, tc.from)
			r.edit(func(c *cephv1.Cluster) { c.Spec.CephVersion.Image = "ceph:" + tc.to })
			r.step()
			r.until("the upgrade", 15*time.Minute, r.settled(tc.to))
			if diff := cmp.Diff(tc.want, r.asked()); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}
