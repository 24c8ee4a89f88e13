package ceph_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/detent-dev/detent/clients/ceph"
	"github.com/detent-dev/detent/clients/ceph/versions"
)

// releases are the releases whose answers were recorded: three monitors, two managers, three OSDs, two metadata servers and one
// gateway. Fields that describe the machine, and long lists, were removed.
var releases = map[string]versions.Version{
	"14": {Major: 14, Minor: 2, Patch: 21, Commit: "5ef401921d7a88aea18ec7558f7f9374ebd8f5a6"},
	"16": {Major: 16, Minor: 2, Patch: 15, Commit: "618f440892089921c3e944a991122ddc44e60516"},
	"18": {Major: 18, Minor: 2, Patch: 7, Commit: "6b0e988052ec84cf2d4a54ff9bbbc5e720b621ad"},
}

// recorded returns the answers of a release by command.
func recorded(t *testing.T, release string) map[string]ceph.Result {
	t.Helper()
	data, err := os.ReadFile("testdata/answers-" + release + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]struct {
		Code   int
		Stdout json.RawMessage
		Stderr string
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	out := map[string]ceph.Result{}
	for name, a := range file {
		out[name] = ceph.Result{Code: a.Code, Stdout: a.Stdout, Stderr: []byte(a.Stderr)}
	}
	return out
}

// fixed answers every command with one result, and keeps the last command.
type fixed struct {
	result ceph.Result
	err    error
	last   ceph.Command
}

func (f *fixed) Run(_ context.Context, command ceph.Command) (ceph.Result, error) {
	f.last = command
	return f.result, f.err
}

// said returns a client whose cluster answers every command with the recorded answer.
func said(t *testing.T, release, name string) ceph.Client {
	t.Helper()
	answer, ok := recorded(t, release)[name]
	if !ok {
		t.Fatalf("no answer to %q was recorded of release %s", name, release)
	}
	return ceph.Client{Runner: &fixed{result: answer}}
}

// reads compares what a question returns on a recorded answer.
func reads[T any](t *testing.T, release, name string, want T, ask func(ceph.Client) (T, error)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		got, err := ask(said(t, release, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// uuids are the recorded UUIDs of the OSDs of a release.
func uuids(release string) [3]string {
	return map[string][3]string{
		"14": {"4d0d5e9f-3e9d-4871-a2cb-bbfd6e8a5fa5", "818f0177-a274-4927-a93f-8a1517f99744", "c97b6699-4205-43cd-ac12-4357c35e57f6"},
		"16": {"08b9878c-9123-444c-938a-2bebcce32d72", "57691d19-4698-4bfa-8003-ae3eb7fc868e", "799e8712-ade8-4976-adb8-a7b5fcb72ac7"},
		"18": {"35c98d17-bdd3-471d-864d-bf72d4158498", "cbbc50c7-a27c-45b3-bee1-98ad8820cf6e", "55f940a2-5bac-4867-ac02-0f8350286f8e"},
	}[release]
}

func osds(release string, up2 bool, noOut0 bool) []ceph.OSD {
	u := uuids(release)
	return []ceph.OSD{{Number: 0, UUID: u[0], Up: true, In: true, NoOut: noOut0}, {Number: 1, UUID: u[1], Up: true, In: true}, {Number: 2, UUID: u[2], Up: up2, In: true}}
}

func TestClientReadsEveryRelease(t *testing.T) {
	for release, version := range releases {
		t.Run(release, func(t *testing.T) {
			ctx := t.Context()
			name := map[string]string{"14": "nautilus", "16": "pacific", "18": "reef"}[release]
			of := func(count int) map[versions.Version]int { return map[versions.Version]int{version: count} }
			reads(t, release, "versions", ceph.Running{"mon": of(3), "mgr": of(2), "osd": of(3), "mds": of(2), "rgw": of(1)}, func(c ceph.Client) (ceph.Running, error) { return c.Versions(ctx) })
			reads(t, release, "health detail", ceph.Health{Status: ceph.HealthOK}, func(c ceph.Client) (ceph.Health, error) { return c.Health(ctx) })
			reads(t, release, "quorum_status", ceph.Quorum{Leader: "a", Members: []string{"a", "b", "c"}, Monitors: []string{"a", "b", "c"}, MinRelease: version.Major, Age: map[string]time.Duration{"14": 241 * time.Second, "16": 96 * time.Second, "18": 72 * time.Second}[release]}, func(c ceph.Client) (ceph.Quorum, error) { return c.Quorum(ctx) })
			reads(t, release, "quorum_status (mon.c is down)", ceph.Quorum{Leader: "a", Members: []string{"a", "b"}, Monitors: []string{"a", "b", "c"}, MinRelease: version.Major, Age: map[string]time.Duration{"14": 3 * time.Second, "16": 3 * time.Second, "18": 22 * time.Second}[release]}, func(c ceph.Client) (ceph.Quorum, error) { return c.Quorum(ctx) })
			for answer, want := range map[string][]ceph.OSD{"osd dump": osds(release, true, false), "osd dump (osd.0 has noout)": osds(release, true, true), "osd dump (osd.2 is down)": osds(release, false, false)} {
				reads(t, release, answer, ceph.OSDMap{RequireRelease: name, Flags: []string{"pglog_hardlimit", "purged_snapdirs", "recovery_deletes", "sortbitwise"}, OSDs: want}, func(c ceph.Client) (ceph.OSDMap, error) { return c.OSDMap(ctx) })
			}
			reads(t, release, "osd tree", map[string][]int{"vm": {0, 1, 2}}, func(c ceph.Client) (map[string][]int, error) { return c.Hosts(ctx) })
			reads(t, release, "tell mon.a version", withoutCommit(version, release), func(c ceph.Client) (versions.Version, error) {
				return c.Tell(ctx, ceph.Daemon{Type: ceph.TypeMon, ID: "a"})
			})
			reads(t, release, "tell osd.0 version", withoutCommit(version, release), func(c ceph.Client) (versions.Version, error) {
				return c.Tell(ctx, ceph.Daemon{Type: ceph.TypeOSD, ID: "0"})
			})
			reads(t, release, "config-key dump detent/", map[string]string{"detent/test": `{"a":1}`}, func(c ceph.Client) (map[string]string, error) { return c.Keys(ctx, "detent/") })
			pod := func(d ceph.Type, id, pod string) ceph.Metadata {
				return ceph.Metadata{Daemon: ceph.Daemon{Type: d, ID: id}, Version: version, Pod: pod}
			}
			reads(t, release, "osd metadata", []ceph.Metadata{pod("osd", "0", "pod-osd0"), pod("osd", "1", "pod-osd1"), pod("osd", "2", "pod-osd2")}, func(c ceph.Client) ([]ceph.Metadata, error) { return c.Metadata(ctx, ceph.TypeOSD) })
			reads(t, release, "mon metadata", []ceph.Metadata{pod("mon", "a", "pod-mona"), pod("mon", "b", "pod-monb"), pod("mon", "c", "pod-monc")}, func(c ceph.Client) ([]ceph.Metadata, error) { return c.Metadata(ctx, ceph.TypeMon) })
			reads(t, release, "mgr metadata", []ceph.Metadata{pod("mgr", "x", "pod-mgrx"), pod("mgr", "y", "pod-mgry")}, func(c ceph.Client) ([]ceph.Metadata, error) { return c.Metadata(ctx, ceph.TypeMgr) })
			reads(t, release, "pg stat", true, func(c ceph.Client) (bool, error) { return isClean(c.PGs(ctx)) })
			reads(t, release, "pg stat (osd.2 is down)", false, func(c ceph.Client) (bool, error) { return isClean(c.PGs(ctx)) })
			reads(t, release, "fs dump", "myfs: max 1, 1 active, 1 standby", func(c ceph.Client) (string, error) { return summary(c.Filesystems(ctx)) })
			reads(t, release, "mgr dump", "x and y, available", func(c ceph.Client) (string, error) { return managers(c.Managers(ctx)) })
			reads(t, release, "health detail (osd.0 has noout)", []string{"OSD_FLAGS"}, func(c ceph.Client) ([]string, error) { return codes(c.Health(ctx)) })
		})
	}
}

// withoutCommit: a daemon of release 14 answers with its commit, later ones without.
func withoutCommit(v versions.Version, release string) versions.Version {
	if release != "14" {
		v.Commit = ""
	}
	return v
}

func isClean(p ceph.PGs, err error) (bool, error) {
	is, _ := p.Clean()
	return is, err
}

func summary(f ceph.Filesystems, err error) (string, error) {
	if err != nil || len(f.Filesystems) != 1 || len(f.Standbys) != 1 || len(f.Filesystems[0].MDS) != 1 {
		return "", errors.Join(err, errors.New("not one of each"))
	}
	one := f.Filesystems[0]
	if one.MDS[0].State != ceph.MDSActive || one.MDS[0].Rank != 0 || f.Standbys[0].State != ceph.MDSStandby || f.Standbys[0].JoinsID != -1 || one.StandbyReplay || one.MaxMDS != 1 || one.ID != 1 {
		return "", errors.New("other states")
	}
	return one.Name + ": max 1, 1 active, 1 standby", nil
}

func managers(m ceph.Managers, err error) (string, error) {
	if err != nil || len(m.Standbys) != 1 || !m.Available {
		return "", errors.Join(err, errors.New("not available with one standby"))
	}
	return min(m.Active, m.Standbys[0]) + " and " + max(m.Active, m.Standbys[0]) + ", available", nil
}

func codes(h ceph.Health, err error) ([]string, error) {
	var out []string
	for _, c := range h.Checks {
		out = append(out, c.Code)
	}
	return out, err
}

func TestClientOKToStopEveryRelease(t *testing.T) {
	cases := map[string]struct {
		daemon ceph.Daemon
		want   ceph.Permission
	}{
		"osd ok-to-stop 0":                 {ceph.Daemon{Type: "osd", ID: "0"}, ceph.Permitted},
		"osd ok-to-stop 0 (osd.2 is down)": {ceph.Daemon{Type: "osd", ID: "0"}, ceph.Denied},
		"mon ok-to-stop a":                 {ceph.Daemon{Type: "mon", ID: "a"}, ceph.Permitted},
		"mon ok-to-stop a b":               {ceph.Daemon{Type: "mon", ID: "a"}, ceph.Denied},
		"mds ok-to-stop myfs-a":            {ceph.Daemon{Type: "mds", ID: "myfs-a"}, ceph.Permitted},
		"mds ok-to-stop myfs-a myfs-b":     {ceph.Daemon{Type: "mds", ID: "myfs-a"}, ceph.Denied},
	}
	for release := range releases {
		for name, c := range cases {
			t.Run(release+" "+name, func(t *testing.T) {
				got, err := said(t, release, name).OKToStop(t.Context(), c.daemon, []ceph.Daemon{c.daemon})
				if err != nil || got.Permission != c.want {
					t.Errorf("want %s, got %+v, %v", c.want, got, err)
				}
			})
		}
	}
}

// TestClientRecordedRefusals checks what each kind of refusal looks like in every release.
func TestClientRecordedRefusals(t *testing.T) {
	cases := map[string]ceph.Kind{
		"fs set nosuch max_mds 1":            ceph.NotFound,
		"osd require-osd-release nosuch":     ceph.Unsupported,
		"tell osd.99 version":                ceph.NotFound,
		"tell osd.2 version (osd.2 is down)": ceph.NotFound,
		"nosuch command":                     ceph.Unsupported,
		"config-key get detent/none":         ceph.NotFound,
	}
	for release := range releases {
		for name, want := range cases {
			t.Run(release+" "+name, func(t *testing.T) {
				err := said(t, release, name).FailMgr(t.Context(), "x")
				if r, ok := ceph.AsRefused(err); !ok || r.Kind != want {
					t.Errorf("want %s, got %v", want, err)
				}
			})
		}
	}
}

// TestClientRecordedSilence checks answers that no daemon gave: they are no refusal.
func TestClientRecordedSilence(t *testing.T) {
	for _, name := range []string{"health (no monitor)", "health (no such keyring)"} {
		t.Run(name, func(t *testing.T) {
			client := said(t, "16", name)
			var unreadable *ceph.Unreadable
			if _, err := client.Health(t.Context()); !errors.As(err, &unreadable) {
				t.Errorf("a question: %v", err)
			}
			if err := client.FailMgr(t.Context(), "x"); !ceph.IsOutcomeUnknown(err) {
				t.Errorf("a command: %v", err)
			}
		})
	}
}

// TestClientRecordedAcceptance checks commands that Ceph accepts without an effect, so that callers observe the effect.
func TestClientRecordedAcceptance(t *testing.T) {
	for _, name := range []string{"osd set-group noout osd.99", "osd unset-group noout osd.0 (again)", "mgr fail nosuch", "config-key rm detent/none", "osd ok-to-stop 99", "mon ok-to-stop zz", "mds ok-to-stop nosuch"} {
		for release := range releases {
			t.Run(release+" "+name, func(t *testing.T) {
				if err := said(t, release, name).FailMgr(t.Context(), "x"); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
