package cephupgrade_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/cephtest"
	"github.com/detent-dev/detent/clients/ceph/versions"
	simulated "github.com/detent-dev/detent/simulator/ceph"
	"github.com/detent-dev/detent/test/cases"
)

// released is what monitors and OSDs run, and which release the map requires of OSDs.
type released struct {
	Versions map[string]int `yaml:"osd_versions"`
	// Cached is what another operator remembers of the required release. Here the map is read.
	Cached string
	Set    string
	Down   int `yaml:"down_old"`
	// OSDs is a number, or versions like Mons.
	OSDs     any `yaml:"osds"`
	Mons     map[string]int
	Required string
}

// TestDefinitionReleaseCases requires a release once every OSD runs it, those that are down included, and not again.
func TestDefinitionReleaseCases(t *testing.T) {
	cases.Run(t, cases.Ceph[released](t, "require_osd_release"), nil, func(t *testing.T, row *cases.Row[released]) cases.Outcome {
		if row.Given.Mons != nil {
			return row.Given.observed(t)
		}
		return row.Given.required(t)
	})
}

// required runs the machine on a cluster whose OSDs run the versions, of which the newest is wanted.
func (r *released) required(t *testing.T) cases.Outcome {
	t.Helper()
	texts := slices.SortedFunc(maps.Keys(r.Versions), func(a, b string) int { return versionOf(t, a).Compare(versionOf(t, b)) })
	newest := versionOf(t, texts[len(texts)-1])
	before := versions.Version{Major: newest.Major - 1, Minor: 2}
	u := newUpgradeOf(t, newest, newest, cephtest.Daemons()...)
	u.facts.Spec.Wanted.AllowUnsupported = true
	if r.Cached == "" {
		u.cluster.RequireRelease = before.Major
	}
	older := r.Versions[texts[0]]
	for i := range u.facts.Daemons {
		if d := u.facts.Daemons[i].Name; d.Type == ceph.TypeOSD && len(texts) > 1 && older > 0 {
			older--
			u.moveBack(d, versionOf(t, texts[0]))
		}
	}
	u.cluster.Faults = []simulated.Fault{denied("osd ok-to-stop")} // what is older stays older
	if r.Set == "error" {
		u.cluster.Faults = []simulated.Fault{denied("osd require-osd-release")}
	}
	if r.Down > 0 {
		u.moveBack(osd2, before)
		u.cluster.Stop(osd2)
		u.cluster.Advance(u.cluster.Now + 20_000)
	}
	u.asked = nil
	u.advance(120, u.settled)
	calls, out := 0, cases.Outcome{"cached": ""}
	for _, command := range u.asked {
		if name, is := strings.CutPrefix(command, "osd require-osd-release "); is {
			calls++
			out["set"], out["retried"] = name, len(u.failed) > 1
		}
	}
	out["calls"] = calls
	if u.cluster.RequireRelease == newest.Major {
		out["cached"] = out["set"]
	}
	for waited := range u.waits {
		if strings.Contains(waited, "osd.2 does not serve") {
			out["reason"] = "osd 2 not verified"
		}
	}
	return out
}

// moveBack has an OSD run an older version than the others.
func (u *upgrade) moveBack(name ceph.Daemon, v versions.Version) {
	for i := range u.cluster.Daemons {
		if d := &u.cluster.Daemons[i]; d.Name == name {
			d.Version, d.Newest = v, v.Major
		}
	}
	d := daemon(&u.facts, name)
	d.Launched, d.Newest = v, v
}

// observed is what simulated monitors answer and report.
func (r *released) observed(t *testing.T) cases.Outcome {
	t.Helper()
	of := func(counts map[string]int) (out []versions.Version) {
		for _, text := range slices.Backward(slices.Sorted(maps.Keys(counts))) { // the leader runs the newest
			for range counts[text] {
				out = append(out, versionOf(t, text))
			}
		}
		return out
	}
	mons, osds := of(r.Mons), of(r.osds())
	oldest := slices.MinFunc(mons, versions.Version.Compare)
	if len(osds) > 0 {
		oldest = slices.MinFunc(slices.Concat(mons, osds), versions.Version.Compare)
	}
	u := newUpgradeOf(t, oldest, mons[0], cephtest.Daemons()...)
	if major := map[string]int{"nautilus": 14, "pacific": 16}[r.Required]; major > 0 {
		u.cluster.RequireRelease, u.cluster.MinMonRelease = major, major
	}
	for i, v := range mons {
		u.moveOne(ceph.Daemon{Type: ceph.TypeMon, ID: string(rune('a' + i))}, v)
	}
	u.cluster.Advance(u.cluster.Now + 30_000)
	h, err := u.client.Health(t.Context())
	u.must(err)
	out := cases.Outcome{}
	for _, check := range h.Checks {
		out["code"] = check.Code
	}
	if r.Set == "" {
		out["ignored"] = u.advance(120, func() bool { return len(u.changed) > 0 }) && !slices.Contains(u.changed, "require reef")
		return out
	}
	result, err := u.cluster.Run(t.Context(), ceph.Command{Args: []string{"osd", "require-osd-release", r.Set}})
	u.must(err)
	out["rc"] = result.Code
	_, out["error"], _ = strings.Cut(strings.TrimSpace(string(result.Stderr)), ": ")
	return out
}

// osds are the versions of OSDs, if the case has any.
func (r *released) osds() map[string]int {
	out := map[string]int{}
	if versions, listed := r.OSDs.(map[string]any); listed {
		for text, count := range versions {
			out[text], _ = count.(int)
		}
	}
	return out
}

var osd2 = ceph.Daemon{Type: ceph.TypeOSD, ID: "2"}
